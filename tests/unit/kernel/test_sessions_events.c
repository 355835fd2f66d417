/* SPDX-License-Identifier: MIT */
/*
 * What a session's events hold of what is done to it at run time: PebsIndex and where it moves, the sampling of spin
 * locks, the end by a panic.
 */
#include "kernel/locks/options.h"
#include "kernel/postmortem/postmortem.h"
#include "tests/unit/kernel/sessions/sessions_machine.h"
#include "trace/wire/spinlock.h"

static char error[256];

/* Events carry what the CPU's Debug Store shows, or nothing without one. */
static void stamps(void **state)
{
    (void)state;
    volatile uint64_t index = 0x12340;
    uint32_t unused;
    struct ksession_params p = control_params(1, "full");
    cpus[1].pebs_stamp = &index;
    assert_int_equal(ksession_create(&p, error, sizeof error), 0);
    ksession_start(1, NULL);
    ksession_stop(1);
    struct trace_session *s = ksession_find(1);
    assert_int_equal(trace_session_buffers(s), CPUS);
    for (uint32_t i = 0; i < CPUS; i++) {
        const struct wmi_buffer_header *h = trace_session_buffer(s, i, &unused);
        struct cairn_session_event e;
        memcpy(&e, (const uint8_t *)h + 0x48 + 0x10, sizeof e);
        assert_int_equal(e.pebs_index, h->processor_index == 1 ? 0x12340 : 0);
        assert_int_equal(e.epoch, h->processor_index == 1 ? 71 : 0);
        assert_int_equal(e.in_epoch, h->processor_index == 1);
    }
}

/* An index that is in a register is read for each acknowledgement. Whether every switch is to read it follows from what
 * the sessions write of switches, and from the truth, which has every one. */
static void index_of_switches(void **state)
{
    (void)state;
    struct ksession_params compact = control_params(1, "compact"), full = control_params(2, "full");
    assert_int_equal(ksession_create(&compact, error, sizeof error), 0);
    assert_int_equal(ksession_create(&full, error, sizeof error), 0);
    ksession_start(1, NULL);
    assert_true(each_switch_stamped);
    assert_int_equal(indices_read, CPUS);
    ktruth_kept = false;
    ksession_stop(1);
    ksession_start(1, NULL);
    assert_false(each_switch_stamped);
    ksession_start(2, NULL);
    assert_true(each_switch_stamped);
    ksession_stop(2);
    assert_false(each_switch_stamped);
    ksession_stop(1);
    assert_int_equal(indices_read, 6 * CPUS);
}

static void pebs_ends(void)
{
    cpus[1].pebs_stamp = NULL;
    meanwhile = NULL;
}

/* PEBS is looked at once those who may end it are done. */
static void stamps_too_late(void **state)
{
    (void)state;
    volatile uint64_t index = 0x12340;
    struct ksession_params p = control_params(1, "both");
    cpus[1].pebs_stamp = &index;
    assert_int_equal(ksession_create(&p, error, sizeof error), 0);
    ksession_start(1, NULL);
    meanwhile = pebs_ends;
    assert_int_equal(ksession_stamp(1, 0, CAIRN_STAMP_FULL), -ENODEV);
}

/* Which switch events carry PebsIndex, turned on and off, on all CPUs that have one. */
static void stamps_chosen(void **state)
{
    (void)state;
    volatile uint64_t index = 0x12340;
    struct ksession_params p = control_params(1, "both");
    struct cairn_session_event e[8];
    const uint32_t full = CAIRN_STAMP_FULL, compact = CAIRN_STAMP_COMPACT, all = full | compact;
    cpus[1].pebs_stamp = &index;
    assert_int_equal(ksession_stamp(1, full, 0), -ENOENT);
    assert_int_equal(ksession_stamp(9, full, 0), -ENOENT);
    assert_int_equal(ksession_create(&p, error, sizeof error), 0);
    assert_int_equal(ksession_stamp(1, full, 0), -EINVAL);
    ksession_start(1, NULL);
    assert_int_equal(ksession_get(1)->without, 0);
    cpus[1].pebs_stamp = NULL;
    assert_int_equal(ksession_stamp(1, 0, all), -ENODEV);
    assert_int_equal(ksession_get(1)->without, 0);
    cpus[1].pebs_stamp = &index;
    static const struct {
        uint32_t on, off, then;
    } rows[] = {{0, 3, 0}, {1, 0, 1}, {2, 0, 3}, {0, 1, 2}};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(ksession_stamp(1, rows[i].on, rows[i].off), 0);
        assert_int_equal(all & ~ksession_get(1)->without, rows[i].then);
    }
    ksession_stop(1);
    ksession_start(1, NULL); /* a new life has all of them */
    ksession_stop(1);
    static const uint8_t stamps_told[] = {3, 0, 1, 3, 2, 2, 3, 3};
    for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
        assert_int_equal(control_events(cpu, e), 8);
        for (unsigned i = 0; i < 8; i++)
            assert_int_equal(e[i].stamps, cpu == 1 ? stamps_told[i] : 0);
    }
    assert_int_equal(truths, CPUS * 8);
}

static bool refused_here(void)
{
    if (here != 1)
        return false;
    cpus[1].pebs_stamp = NULL;
    return true;
}

static void nothing_here(void *unused)
{
    (void)unused;
}

/* PEBS does not begin on one CPU: its sessions, which have begun, are told there, and the others' stamps stay. */
static void pebs_refused(void **state)
{
    (void)state;
    volatile uint64_t index = 0x12340;
    struct ksession_params p = control_params(1, "both");
    struct cairn_session_event e[8];
    for (uint32_t cpu = 0; cpu < CPUS; cpu++)
        cpus[cpu].pebs_stamp = &index;
    assert_int_equal(ksession_create(&p, error, sizeof error), 0);
    before_and_after = true;
    ksession_start_all(refused_here);
    before_and_after = false;
    assert_int_equal(ksession_stamp(1, 0, 0), 0); /* PEBS runs somewhere */
    before_and_after = true;
    ksession_stop_all(nothing_here);
    before_and_after = false;
    const uint32_t all = CAIRN_STAMP_FULL | CAIRN_STAMP_COMPACT;
    for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
        const unsigned count = cpu == 1 ? 4 : 3;
        assert_int_equal(control_events(cpu, e), count);
        for (unsigned i = 0; i < count; i++)
            assert_int_equal(e[i].stamps, cpu == 1 && i ? 0 : all);
        assert_int_equal(e[1].what, CAIRN_SESSION_MASKS);
    }
    cpus[0].pebs_stamp = cpus[2].pebs_stamp = NULL;
}

static bool moves;
static volatile uint64_t there;

static bool move_there(void *argument)
{
    assert_ptr_equal(argument, &there);
    assert_true(locked);
    if (moves)
        cpus[here].pebs_stamp = cpus[here].pebs_stamp ? NULL : &there;
    return moves;
}

/* PebsIndex moves on one CPU: its running sessions are told there, and nobody else. */
static void pebs_moved(void **state)
{
    (void)state;
    struct cairn_session_event e[8];
    for (uint32_t number = 1; number <= 2; number++) {
        struct ksession_params p = control_params(number, "compact");
        assert_int_equal(ksession_create(&p, error, sizeof error), 0);
    }
    there = 0x777000;
    ksession_start(1, NULL);
    here = 2;
    moves = false;
    ksession_move_pebs(move_there, (void *)(uintptr_t)&there);
    moves = true;
    ksession_move_pebs(move_there, (void *)(uintptr_t)&there);
    ksession_move_pebs(move_there, (void *)(uintptr_t)&there);
    assert_false(locked);
    ksession_stop(1);
    assert_int_equal(control_events(0, e), 2);
    assert_int_equal(control_events(2, e), 4);
    assert_true(e[1].what == CAIRN_SESSION_MASKS && e[1].stamps == 3 && e[1].pebs_index == 0x777000);
    assert_true(e[2].what == CAIRN_SESSION_MASKS && !e[2].stamps && !e[2].pebs_index);
    assert_memory_equal(e[1].masks, e[0].masks, sizeof e[0].masks);
    assert_int_equal(truths, 2 * CPUS + 2);
}

/* A panic: what runs is closed, wherever it is, and stays closed. */
static void panicked(void **state)
{
    (void)state;
    struct ksession_params p = control_params(1, "compact");
    assert_int_equal(ksession_create(&p, error, sizeof error), 0);
    p.number = 4;
    assert_int_equal(ksession_create(&p, error, sizeof error), 0);
    ksession_start(1, NULL);
    ksession_start(4, NULL);
    for (uint32_t i = 1; i <= 100; i++) {
        struct trace_switch sw = box_switch_at(arch_rdtsc(), i);
        trace_hub_switch(cpus[i % CPUS].trace, &sw);
    }
    kpostmortem_settle();
    const uint64_t tsc = arch_rdtsc();
    kpostmortem_freeze(tsc);
    for (uint32_t number = 1; number <= 4; number += 3) {
        const struct ksession *s = ksession_get(number);
        assert_true(!s->running && s->stop_tsc == tsc);
        assert_int_equal(ksession_counts(s).compact_written, 100);
        assert_int_equal(ksession_counts(s).events_lost, 0);
        assert_true(box_account_holds(ksession_find(number)));
    }
}

struct trace_spinlock_sampling klock_sampling;

/* A spin lock taken and let go of on CPU 1. */
static void use_lock(const void *spinlock)
{
    here = 1;
    if (cpus[1].locktrace) {
        struct klock_trace_query query = klock_trace_query();
        klock_trace_acquired(spinlock, SPINLOCK_QUEUED, &query, 0);
        klock_trace_released(spinlock, arch_rdtsc(), spinlock);
    }
    here = 0;
}

/* Hook IDs of what session `number` has of CPU 1, but for what it is told of other sessions. */
static unsigned hooks_of(uint32_t number, uint16_t *hook, unsigned room)
{
    struct trace_session *s = ksession_find(number);
    unsigned n = 0;
    for (uint32_t i = 0, unused; i < trace_session_buffers(s); i++) {
        const struct wmi_buffer_header *h = trace_session_buffer(s, i, &unused);
        struct naive_event e;
        bool ok = true;
        for (uint32_t at = 0; h->processor_index == 1 && n < room && naive_next((const void *)h, &at, &e, &ok);)
            if (e.hook != HOOK_CAIRN_SESSION || e.payload[offsetof(struct cairn_session_event, session)] == number)
                hook[n++] = e.hook;
        assert_true(ok);
    }
    return n;
}

/* Traced from the first session that wants them to the last; each is told the sampling at both ends of its life. */
static void spin_locks(void **state)
{
    (void)state;
    static struct kthread thread;
    static int spinlock;
    uint16_t hook[32];
    struct ksession_params with = control_params(1, "compact+spinlock"), without = control_params(2, "compact");
    klock_trace_init(&(struct trace_spinlock_sampling){1, 1000, 1, 0, true});
    for (uint32_t i = 0; i < CPUS; i++)
        cpus[i].current = &thread;
    assert_int_equal(ksession_create(&with, error, sizeof error), 0);
    assert_int_equal(ksession_create(&without, error, sizeof error), 0);
    ksession_start(2, NULL);
    use_lock(&spinlock); /* nobody wants it */
    assert_null(cpus[1].locktrace);
    ksession_start(1, NULL);
    locked = true;                                                                /* kcross_call_all wants it */
    klock_trace_configure((struct trace_spinlock_sampling){2, 3000, 4, 0, true}); /* told to those who want them */
    locked = false;
    assert_int_equal(klock_trace_sampling().acquire_sample_rate, 3000);
    use_lock(&spinlock);
    ksession_change(2, &with.masks);
    ksession_change(1, &without.masks);
    use_lock(&spinlock);
    ksession_stop(2);
    assert_null(cpus[1].locktrace);
    use_lock(&spinlock);
    ksession_stop(1);

    static const uint16_t first[] = {HOOK_CAIRN_SESSION, HOOK_SPINLOCK_DC_START, HOOK_SPINLOCK_DC_START,
                                     HOOK_SPINLOCK,      HOOK_SPINLOCK_DC_END,   HOOK_CAIRN_SESSION,
                                     HOOK_CAIRN_SESSION};
    static const uint16_t second[] = {HOOK_CAIRN_SESSION, HOOK_CAIRN_SESSION,   HOOK_SPINLOCK_DC_START,
                                      HOOK_SPINLOCK,      HOOK_SPINLOCK_DC_END, HOOK_CAIRN_SESSION};
    assert_int_equal(hooks_of(1, hook, 32), 7);
    assert_memory_equal(hook, first, sizeof first);
    assert_int_equal(hooks_of(2, hook, 32), 6);
    assert_memory_equal(hook, second, sizeof second);
    assert_int_equal(klock_trace_counts(1).released, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stamps, control_begin, control_end),
        cmocka_unit_test_setup_teardown(index_of_switches, control_begin, control_end),
        cmocka_unit_test_setup_teardown(stamps_too_late, control_begin, control_end),
        cmocka_unit_test_setup_teardown(stamps_chosen, control_begin, control_end),
        cmocka_unit_test_setup_teardown(pebs_refused, control_begin, control_end),
        cmocka_unit_test_setup_teardown(pebs_moved, control_begin, control_end),
        cmocka_unit_test_setup_teardown(panicked, control_begin, control_end),
        cmocka_unit_test_setup_teardown(spin_locks, control_begin, control_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
