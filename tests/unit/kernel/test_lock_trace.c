/* SPDX-License-Identifier: MIT */
/*
 * Spin locks of all kinds, and what is traced of them: on made-up CPUs one after another, step by step, and on real
 * threads, a CPU each, that fight for them.
 * Longer than 500 lines: all tests are of one set of made-up CPUs.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "ds/ds.h"
#include "kernel/cpu.h"
#include "kernel/thread.h"
#include "kernel/truth/truth.h"
#include "tests/unit/support/alone.h"
#include "tests/unit/support/cmocka.h"
#include "trace/hub.h"
#include "trace/wire/spinlock.h"

#define CPUS 4
static struct kcpu cpus[CPUS];
static __thread uint32_t here;
static __thread uint64_t now;
static __thread void (*on_pause)(void); /* what happens while a CPU waits */
static jmp_buf panicked;

struct kcpu *kcpu_this(void)
{
    return &cpus[here];
}

uint32_t arch_cpu_index(void)
{
    return here;
}

uint64_t arch_rdtsc(void)
{
    return now += 10;
}

void arch_pause(void)
{
    if (on_pause)
        on_pause();
    else
        sched_yield();
}

bool arch_irq_save(void)
{
    return true;
}

void arch_irq_restore(bool on)
{
    assert_true(on);
}

#include "kernel/lock/spinlock.h"
#include "kernel/locks/executive_spinlock.h"
#include "kernel/locks/lock_trace.h"
#include "kernel/locks/queued_spinlock.h"
#include "kernel/sched/cross_call.h"

_Noreturn void kpanic(const char *format, ...)
{
    (void)format;
    longjmp(panicked, 1);
}

/* ---- what is written, by CPU 0 */
#define NOTED 64
static struct wmi_spinlock event[NOTED];
static unsigned events;
static union {
    uint8_t kind;
    struct cairn_truth_acquired acquired;
    struct cairn_truth_released released;
} truth[NOTED];
static unsigned truths;
static bool counting[CPUS]; /* the Debug Store counts */
static unsigned holds;      /* times that it was held */
static struct trace_hub_cpu hub;

bool ds_counting(const struct ds_cpu *ds)
{
    (void)ds;
    return counting[here];
}

void ds_pause(struct ds_cpu *ds)
{
    (void)ds;
    counting[here] = false;
    holds++;
}

void ds_resume(struct ds_cpu *ds)
{
    (void)ds;
    counting[here] = true;
}

void ktruth_write(uint32_t index, const void *record)
{
    assert_int_equal(index, cpus[here].arch.index);
    assert_false(counting[here]);
    if (truths < NOTED)
        memcpy(&truth[truths++], record, CAIRN_TRUTH_BYTES);
}

int trace_hub_event(struct trace_hub_cpu *h, uint64_t when, uint32_t group, uint16_t hook_id, uint8_t version,
                    const struct trace_part *parts, unsigned count)
{
    assert_ptr_equal(h, cpus[here].trace);
    assert_false(counting[here]);
    assert_int_equal(group, PERF_SPINLOCK);
    assert_int_equal(hook_id, HOOK_SPINLOCK);
    assert_int_equal(version, 2);
    assert_int_equal(count, 1);
    assert_int_equal(parts[0].size, sizeof event[0]);
    if (here == 0 && events < NOTED)
        memcpy(&event[events++], parts[0].data, sizeof event[0]);
    assert_int_equal(when, ((const struct wmi_spinlock *)parts[0].data)->release_time);
    return 0;
}

static struct perfinfo_spinlock_config rundown;
static uint32_t rundown_sessions;
static uint16_t rundown_hook;

int trace_hub_event_to(struct trace_hub_cpu *h, uint64_t when, uint32_t sessions, const struct trace_system *system,
                       uint16_t hook_id, uint8_t version, const struct trace_part *parts, unsigned count)
{
    (void)when;
    assert_ptr_equal(h, &hub);
    assert_null(system);
    assert_int_equal(version, 3);
    assert_int_equal(count, 1);
    assert_int_equal(parts[0].size, sizeof rundown);
    memcpy(&rundown, parts[0].data, sizeof rundown);
    rundown_sessions = sessions;
    rundown_hook = hook_id;
    return 0;
}

uint32_t trace_hub_sessions(const struct trace_hub_cpu *h, uint32_t group)
{
    assert_ptr_equal(h, &hub);
    assert_int_equal(group, PERF_SPINLOCK);
    return 5; /* sessions 1 and 3 */
}

void kcross_call_all(kcross_call_function function, void *argument)
{
    function(argument);
}

static struct kthread thread[CPUS];
bool ktruth_kept = true;

static void want(bool on)
{
    memset(&hub.wanted, 0, sizeof hub.wanted);
    if (on)
        trace_group_add(&hub.wanted, PERF_SPINLOCK);
    klock_trace_update();
}

static int setup(void **state)
{
    (void)state;
    memset(counting, 0, sizeof counting);
    events = truths = holds = 0;
    for (here = CPUS; here-- > 0;) {
        thread[here].tid = 8 + 4 * here;
        cpus[here] = (struct kcpu){.arch.index = here, .current = &thread[here], .trace = &hub};
        want(true);
    }
    here = 0;
    now = 1000;
    on_pause = NULL;
    klock_trace_init(&(struct trace_spinlock_sampling){1, 1000, 1, 1000000, true});
    return 0;
}

/* ---- one lock at a time */

static struct kspinlock ordinary = KSPINLOCK("ordinary");
static struct kqueued_spinlock queued = {.name = "queued"};
static struct kexecutive_spinlock executive = {.name = "executive"};

static void free_ordinary(void)
{
    static unsigned times;
    now += 100;
    cpus[0].interrupts++; /* as if somebody spun with interrupts on */
    if (++times % 3 == 0)
        ordinary.owner = 0;
}

static void every_field(void **state)
{
    (void)state;
    ordinary.owner = 3;
    on_pause = free_ordinary;
    cpus[0].interrupts = 70;
    kspin_lock(&ordinary); /* asked at 1010; three times taken, 300 cycles; got at 1320 */
    assert_true(kspin_held(&ordinary));
    thread[1].tid = 44;
    cpus[0].current = &thread[1]; /* the dispatcher lock passes from thread to thread */
    cpus[0].interrupts++;
    kspin_unlock(&ordinary);
    assert_int_equal(ordinary.owner, 0);
    assert_int_equal(events, 1);
    assert_int_equal(event[0].spin_lock_address, (uintptr_t)&ordinary);
    assert_true(event[0].caller_address > (uintptr_t)every_field &&
                event[0].caller_address < (uintptr_t)every_field + 4096);
    assert_int_equal(event[0].acquire_time, 1320);
    assert_int_equal(event[0].release_time, 1330);
    assert_int_equal(event[0].wait_time_in_cycles, 310);
    assert_int_equal(event[0].spin_count, 3);
    assert_int_equal(event[0].thread_id, 44);
    assert_int_equal(event[0].interrupt_count, 4);
    assert_int_equal(event[0].irql, 2);
    assert_int_equal(event[0].acquire_depth, 1);
    assert_int_equal(event[0].flags, SPINLOCK_ORDINARY);

    assert_int_equal(truths, 2);
    assert_int_equal(truth[0].kind, CAIRN_TRUTH_ACQUIRED);
    assert_int_equal(truth[0].acquired.tid, 8);
    assert_int_equal(truth[0].acquired.query_tsc, 1010);
    assert_int_equal(truth[0].acquired.tsc, 1320);
    assert_int_equal(truth[0].acquired.spins, 3);
    assert_int_equal(truth[0].acquired.interrupts, 70);
    assert_int_equal(truth[1].kind, CAIRN_TRUTH_RELEASED);
    assert_int_equal(truth[1].released.tid, 44);
    assert_int_equal(truth[1].released.tsc, 1330);
    assert_int_equal(truth[1].released.caller, event[0].caller_address);
    assert_int_equal(truth[1].released.interrupts, 74);
    assert_int_equal(truth[1].released.irql, 2);
}

static void in_interrupts_and_dpcs(void **state)
{
    (void)state;
    const uint8_t dpc = WMI_SPINLOCK_EXECUTE_DPC, isr = WMI_SPINLOCK_EXECUTE_ISR;
    const struct {
        uint32_t depth;
        bool in_dpc;
        uint8_t irql, flags;
    } rows[] = {
        {0, false, 2, 0}, {1, false, 14, isr}, {1, true, 2, dpc}, {2, true, 15, dpc | isr}, /* one came in a DPC */
    };
    cpus[0].irq_vector[0] = ARCH_VECTOR_TIMER;
    cpus[0].irq_vector[1] = 0xF1;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cpus[0].irq_depth = rows[i].depth;
        cpus[0].in_dpc = rows[i].in_dpc;
        kspin_lock(&ordinary);
        kspin_unlock(&ordinary);
        assert_int_equal(event[i].irql, rows[i].irql);
        assert_int_equal(event[i].flags, rows[i].flags | SPINLOCK_ORDINARY);
        assert_int_equal(truth[2 * i + 1].released.irql, rows[i].irql);
        assert_int_equal(truth[2 * i + 1].released.flags, rows[i].flags);
    }
}

static void modes(void **state)
{
    (void)state;
    struct kqueued_place place;
    kqueued_lock(&queued, &place);
    kqueued_unlock(&place);
    assert_null(queued.tail);
    kexecutive_lock_shared(&executive);
    kexecutive_lock_shared(&executive);
    assert_false(kexecutive_try_convert(&executive));
    kexecutive_unlock_shared(&executive);
    assert_true(kexecutive_try_convert(&executive));
    assert_int_equal(executive.state, KEXECUTIVE_EXCLUSIVE);
    kexecutive_unlock_exclusive(&executive);
    kexecutive_lock_exclusive(&executive);
    kexecutive_unlock_exclusive(&executive);
    assert_int_equal(executive.state, 0);

    const uint8_t mode[] = {SPINLOCK_QUEUED, SPINLOCK_SHARED, SPINLOCK_CONVERTED, SPINLOCK_EXCLUSIVE};
    const uint8_t depth[] = {1, 2, 1, 1};
    assert_int_equal(events, 4);
    for (unsigned i = 0; i < events; i++) {
        assert_int_equal(event[i].flags, mode[i]);
        assert_int_equal(event[i].acquire_depth, depth[i]);
        assert_int_equal(event[i].spin_count, 0);
    }
    /* shared at its first acquisition: the conversion does not begin another hold */
    assert_true(event[2].acquire_time < event[1].acquire_time);
    assert_int_equal(truths, 9);
    assert_int_equal(truth[5].acquired.mode, SPINLOCK_CONVERTED);
    assert_int_equal(truth[5].acquired.query_tsc, 0);
}

/* A converted lock is nobody's to share. */
static void conversion_is_refused(void **state)
{
    (void)state;
    kexecutive_lock_shared(&executive);
    executive.state |= KEXECUTIVE_EXCLUSIVE; /* another CPU wants it alone, and waits for this one */
    assert_false(kexecutive_try_convert(&executive));
    kexecutive_unlock_shared(&executive);
    assert_int_equal(executive.state, KEXECUTIVE_EXCLUSIVE);
    executive.state = 0;
    assert_int_equal(event[0].flags, SPINLOCK_SHARED);
}

/* Not in the order in which they were taken; the ninth is untracked; each release says how many are held. */
static void nested(void **state)
{
    (void)state;
    struct kspinlock lock[10] = {0};
    static const uint8_t order[10] = {0, 9, 8, 7, 1, 2, 3, 4, 5, 6};
    for (unsigned i = 0; i < 10; i++)
        kspin_lock(&lock[i]);
    for (unsigned i = 0; i < 10; i++)
        kspin_unlock(&lock[order[i]]);
    assert_int_equal(events, 8);
    static const uint8_t tracked[8] = {0, 7, 1, 2, 3, 4, 5, 6};
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(event[i].spin_lock_address, (uintptr_t)&lock[tracked[i]]);
        assert_int_equal(event[i].acquire_depth, 8 - i);
        assert_int_equal(event[i].acquire_time, 1020 + 20 * tracked[i]);
    }
    assert_int_equal(truths, 20);
    want(false);
    struct klock_trace_counts c = klock_trace_counts(0);
    assert_int_equal(c.untracked, 2);
    assert_int_equal(c.released, 8);
    assert_int_equal(c.events, 8);
    assert_int_equal(c.uncontended, 10);
    assert_int_equal(c.contended, 0);
}

static void the_same_lock_shared_twice(void **state)
{
    (void)state;
    kexecutive_lock_shared(&executive);
    kexecutive_lock_shared(&executive);
    kexecutive_unlock_shared(&executive);
    kexecutive_unlock_shared(&executive);
    assert_int_equal(event[0].acquire_time, 1040);
    assert_int_equal(event[1].acquire_time, 1020);
}

/* Begun or ended while locks are held: those write nothing, and nothing of them is left. */
static void begin_and_end(void **state)
{
    (void)state;
    struct kspinlock inner = KSPINLOCK("inner");
    want(false);
    assert_null(cpus[0].locktrace);
    kspin_lock(&ordinary);
    want(true);
    kspin_lock(&inner);
    kspin_unlock(&inner);
    kspin_unlock(&ordinary);
    assert_int_equal(events, 1);
    assert_int_equal(event[0].spin_lock_address, (uintptr_t)&inner);
    assert_int_equal(event[0].acquire_depth, 1);
    assert_int_equal(truths, 3); /* the release that has no acquisition, too */

    kspin_lock(&ordinary);
    want(false);
    kspin_unlock(&ordinary);
    want(true);
    want(true); /* a second session: nothing begins anew */
    kspin_lock(&inner);
    want(true);
    kspin_unlock(&inner);
    assert_int_equal(events, 2);
    assert_int_equal(event[1].acquire_depth, 1);
    assert_int_equal(ordinary.owner, 0);
}

/* The current counts of the CPU, nested acquisitions included, decide at the release. */
static void sampled(void **state)
{
    (void)state;
    klock_trace_init(&(struct trace_spinlock_sampling){1, 1000, 1, 1000000, false});
    struct kspinlock outer = KSPINLOCK("outer");
    for (unsigned i = 1; i <= 2998; i += 2) {
        kspin_lock(&outer);
        kspin_lock(&ordinary);
        kspin_unlock(&ordinary);
        kspin_unlock(&outer);
    }
    assert_int_equal(events, 4); /* at 1000 and 2000 of them, inner and outer */
    assert_int_equal(event[0].spin_lock_address, (uintptr_t)&ordinary);
    assert_int_equal(event[1].spin_lock_address, (uintptr_t)&outer);
    kspin_lock(&ordinary);
    now += 1000000;
    kspin_unlock(&ordinary);
    assert_int_equal(events, 5);
    assert_int_equal(event[4].release_time - event[4].acquire_time, 1000010);
}

/* A thread that is counted is not while truth and events are written, and is again behind that. */
static void counting_is_held(void **state)
{
    (void)state;
    counting[0] = true;
    kspin_lock(&ordinary);
    assert_true(counting[0]);
    kspin_unlock(&ordinary);
    assert_true(counting[0]);
    kexecutive_lock_shared(&executive);
    assert_true(kexecutive_try_convert(&executive));
    kexecutive_unlock_exclusive(&executive);
    assert_true(counting[0]);
    assert_int_equal(holds, 5);
    assert_int_equal(events, 2);
    counting[0] = false;
    kspin_lock(&ordinary);
    kspin_unlock(&ordinary);
    assert_false(counting[0]);
    assert_int_equal(holds, 5);
}

static void configuration(void **state)
{
    (void)state;
    klock_trace_configure((struct trace_spinlock_sampling){2, 3000, 4, 0, false});
    assert_int_equal(klock_trace_sampling().acquire_sample_rate, 3000);
    assert_int_equal(rundown_sessions, 5);
    assert_int_equal(rundown_hook, HOOK_SPINLOCK_DC_START);
    klock_trace_rundown(3, HOOK_SPINLOCK_DC_END); /* session 2 does not want them */
    assert_int_equal(rundown_sessions, 1);
    assert_int_equal(rundown_hook, HOOK_SPINLOCK_DC_END);
    assert_int_equal(rundown.spin_threshold, 2);
    assert_int_equal(rundown.contention_sample_rate, 4);
    assert_int_equal(rundown.acquire_sample_rate, 3000);
    assert_int_equal(rundown.hold_threshold, 0);
}

static void do_nothing(void)
{
}

#define PANICS(statement)                                                                                              \
    do {                                                                                                               \
        volatile bool died = true;                                                                                     \
        if (setjmp(panicked) == 0) {                                                                                   \
            statement;                                                                                                 \
            died = false;                                                                                              \
        }                                                                                                              \
        assert_true(died);                                                                                             \
    } while (0)

static void misuse(void **state)
{
    (void)state;
    struct kqueued_place place = {.lock = &queued, .owner = 2};
    on_pause = do_nothing;
    kspin_lock(&ordinary);
    PANICS(kspin_lock(&ordinary));
    here = 1;
    PANICS(kspin_unlock(&ordinary));
    here = 0;
    kspin_unlock(&ordinary);
    PANICS(kqueued_unlock(&place));
    PANICS(kexecutive_unlock_shared(&executive));
    PANICS(kexecutive_unlock_exclusive(&executive));
}

/* ---- a fight */

#define ROUNDS 4000
static struct {
    uint64_t ordinary, queued, executive, copy; /* each under its lock; copy: equal to executive whenever shared */
    bool torn;
} under;

static void *fight(void *argument)
{
    struct kqueued_place place;
    uint32_t kept = 0;
    here = (uint32_t)(uintptr_t)argument;
    on_pause = NULL;
    for (unsigned i = 0; i < ROUNDS; i++) {
        kspin_lock(&ordinary);
        under.ordinary++;
        kqueued_lock(&queued, &place);
        under.queued++;
        kspin_unlock(&ordinary);
        kqueued_unlock(&place);
        kexecutive_lock_shared(&executive);
        if (under.executive != under.copy)
            under.torn = true;
        if (i % 4 == 0 && kexecutive_try_convert(&executive)) {
            kept++;
            under.executive++;
            under.copy++;
            kexecutive_unlock_exclusive(&executive);
        } else {
            kexecutive_unlock_shared(&executive);
        }
        kexecutive_lock_exclusive(&executive);
        under.executive++;
        under.copy++;
        kexecutive_unlock_exclusive(&executive);
    }
    return (void *)(uintptr_t)kept;
}

static void nobody_is_let_in_twice(void **state)
{
    for (int traced = 0; traced < 2; traced++) {
        pthread_t id[CPUS];
        uint64_t converted = 0;
        setup(state);
        klock_trace_init(&(struct trace_spinlock_sampling){1, 1000, 1, 1000000, false});
        for (here = CPUS; here-- > 0;) {
            ktruth_kept = false;
            want(traced);
        }
        memset(&under, 0, sizeof under);
        for (uintptr_t i = 0; i < CPUS; i++)
            assert_int_equal(pthread_create(&id[i], NULL, fight, (void *)i), 0);
        for (unsigned i = 0; i < CPUS; i++) {
            void *kept;
            pthread_join(id[i], &kept);
            converted += (uintptr_t)kept;
        }
        assert_int_equal(under.ordinary, CPUS * ROUNDS);
        assert_int_equal(under.queued, CPUS * ROUNDS);
        assert_int_equal(under.executive, CPUS * ROUNDS + converted);
        assert_int_equal(under.copy, under.executive);
        assert_false(under.torn);
        for (here = 0; here < CPUS; here++) {
            want(false);
            struct klock_trace_counts c = klock_trace_counts(here);
            assert_int_equal(c.released, traced ? 4 * ROUNDS : 0);
            assert_int_equal(c.contended + c.uncontended, c.released);
        }
        here = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_field, setup),
        cmocka_unit_test_setup(in_interrupts_and_dpcs, setup),
        cmocka_unit_test_setup(modes, setup),
        cmocka_unit_test_setup(conversion_is_refused, setup),
        cmocka_unit_test_setup(nested, setup),
        cmocka_unit_test_setup(the_same_lock_shared_twice, setup),
        cmocka_unit_test_setup(begin_and_end, setup),
        cmocka_unit_test_setup(sampled, setup),
        cmocka_unit_test_setup(counting_is_held, setup),
        cmocka_unit_test_setup(configuration, setup),
        cmocka_unit_test_setup(misuse, setup),
        cmocka_unit_test(nobody_is_let_in_twice),
    };
    return alone_run_tests(tests, sizeof tests / sizeof tests[0]);
}
