/* SPDX-License-Identifier: MIT */
/*
 * Sessions made, started, changed, stopped and unmade at run time, on CPUs that are told one after another: what each
 * call answers, what it takes of memory and gives back, and what the sessions and the truth hold of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the hardware under the kernel's headers is replaced by this file's */
#define arch_rdtsc arch_rdtsc_hardware
#include "arch/arch.h"
#undef arch_rdtsc
#define kcpu_this kcpu_this_hardware
#include "kernel/cpu.h"
#undef kcpu_this

#define CPUS 3u

static struct kcpu cpus[CPUS];
static uint32_t here;
static uint64_t clock_tsc = 1000;

static struct kcpu *kcpu_this(void)
{
    return &cpus[here];
}

static uint64_t arch_rdtsc(void)
{
    return clock_tsc += 256;
}

#define ds_counting fake_ds_counting
#define ds_pause    fake_ds_pause
#define ds_resume   fake_ds_resume
#include "trace/hub.h"
#define cpus locktrace_cpus
#define find locktrace_find
#include "kernel/locktrace.c"
#undef cpus
#undef find
#include "kernel/control.c"
#include "tests/unit/trace_support.h"

struct kcpu *kcpu_table[ARCH_MAX_CPUS];
uint32_t kcpu_count;
struct kopt kopt;

static uint64_t tsc_hz;
static bool locked;
static size_t pages_free, pages_taken;
static uint32_t calls;
static struct cairn_truth_session truth[64];
static unsigned truths;

uint64_t arch_tsc_hz(void)
{
    return tsc_hz;
}

void kcall_all(kcall_function function, void *argument)
{
    assert_true(locked);
    calls++;
    for (here = 0; here < kcpu_count; here++)
        function(argument);
    here = 0;
}

void kcall_here(kcall_function function, void *argument)
{
    assert_true(locked);
    calls++;
    function(argument);
}

bool khook_epoch(uint32_t index, uint32_t *epoch)
{
    *epoch = 70 + index;
    return true;
}

/* Counters that count for items: of two sources. */
int ksession_counter(uint16_t source)
{
    return source == TRACE_PMC_INSTRUCTION_RETIRED ? 1 : source == TRACE_PMC_TOTAL_CYCLES ? 0 : -ENOENT;
}

static struct {
    uint32_t cpu, pmcs;
    uint16_t source[2];
    uint8_t pmc[2];
} configured[4]; /* on which CPU, and what */
static unsigned times_configured;

void klive_pmc_config(struct kcpu *cpu, const struct trace_config *config)
{
    assert_true(trace_hub_on(cpu->trace)); /* the session it is for is there */
    if (!config->pmcs)
        return;
    configured[times_configured].cpu = cpu->arch.index;
    configured[times_configured].pmcs = config->pmcs;
    memcpy(configured[times_configured].source, config->pmc_source, sizeof configured[0].source);
    memcpy(configured[times_configured].pmc, config->pmc, sizeof configured[0].pmc);
    times_configured++;
}

int64_t kmachine_filetime(uint64_t tsc)
{
    return (int64_t)tsc + 5000000;
}

void *kmem_pages_alloc(size_t pages)
{
    if (pages > pages_free)
        return NULL;
    void *memory = aligned_alloc(ARCH_PAGE_SIZE, pages * ARCH_PAGE_SIZE);
    assert_non_null(memory);
    pages_free -= pages;
    pages_taken += pages;
    return memset(memory, 0, pages * ARCH_PAGE_SIZE);
}

void kmem_pages_free(void *memory, size_t pages)
{
    assert_true(pages <= pages_taken);
    pages_taken -= pages;
    pages_free += pages;
    free(memory);
}

uint64_t kmem_pages_available(void)
{
    return pages_free;
}

void kmutex_init(struct kmutex *mutex)
{
    (void)mutex;
    locked = false;
}

static void (*meanwhile)(void); /* what somebody else does before the lock is ours */
int kmutex_lock(struct kmutex *mutex, enum kwait_reason reason, uint64_t ticks)
{
    (void)mutex;
    assert_true(!locked && reason == KWAIT_EXECUTIVE && ticks == KWAIT_FOREVER);
    if (meanwhile)
        meanwhile();
    locked = true;
    return 0;
}

int kmutex_unlock(struct kmutex *mutex, int increment)
{
    (void)mutex;
    (void)increment;
    assert_true(locked);
    locked = false;
    return 0;
}

void ktruth_write(struct ktruth_cpu *t, const void *record)
{
    assert_ptr_equal(t, cpus[here].truth);
    memcpy(&truth[truths++], record, CAIRN_TRUTH_BYTES);
}

/* What is there is told before the first CPU hears of a change, and when the last one has. */
static unsigned changes_told;

/* Whether every CPU has the session with these masks; where there are none, no CPU has it. */
static void assert_masks(uint32_t number, const struct perfinfo_groupmask *masks)
{
    static const struct perfinfo_groupmask none;
    bool any = memcmp(masks, &none, sizeof none) != 0;
    for (uint32_t i = 0; i < kcpu_count; i++) {
        const struct trace_cpu *cpu = trace_session_cpu(kcontrol_session(number), i);
        assert_int_equal(trace_cpu_on(cpu), any);
        if (any)
            assert_memory_equal(&cpu->masks, masks, sizeof *masks);
    }
}

void krundown_call(const struct krundown_change *changes, unsigned count, kcall_function function, void *argument)
{
    for (unsigned i = 0; i < count; i++)
        assert_masks(changes[i].number, &changes[i].old);
    kcall_all(function, argument);
    for (unsigned i = 0; i < count; i++)
        assert_masks(changes[i].number, &changes[i].new);
    changes_told += count;
}

bool fake_ds_counting(const struct ds_cpu *ds)
{
    (void)ds;
    return false;
}

void fake_ds_pause(struct ds_cpu *ds)
{
    (void)ds;
    fail();
}

void fake_ds_resume(struct ds_cpu *ds)
{
    (void)ds;
    fail();
}

/* ---- */

static char error[256];

static int begin(void **state)
{
    (void)state;
    kcpu_count = CPUS;
    for (uint32_t i = 0; i < CPUS; i++) {
        cpus[i] = (struct kcpu){.arch.index = i, .truth = (struct ktruth_cpu *)&cpus[i]};
        kcpu_table[i] = &cpus[i];
    }
    memset(slots, 0, sizeof slots);
    tsc_hz = TRACE_CLOCK_HZ * BOX_UNIT;
    kopt.tick_us = 1000;
    pages_free = 1000;
    pages_taken = calls = truths = changes_told = times_configured = 0;
    return kcontrol_init(error, sizeof error);
}

static int end(void **state)
{
    (void)state;
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++) {
        kcontrol_stop(number);
        kcontrol_destroy(number);
    }
    kmem_pages_free(hubs, PAGES(kcpu_count * sizeof *hubs));
    hubs = NULL;
    return pages_taken != 0; /* something leaked */
}

static struct kcontrol_params params(uint32_t number, const char *groups)
{
    struct kcontrol_params p = {.number = number, .clock = TRACE_CLOCK_QPC, .buffer_kib = 4, .buffers = 8};
    trace_groups_parse(groups, strlen(groups), &p.masks);
    return p;
}

static void too_slow_a_clock(void **state)
{
    (void)state;
    struct trace_hub_cpu *kept = hubs;
    tsc_hz = 2 * TRACE_CLOCK_HZ;
    assert_int_equal(kcontrol_init(error, sizeof error), -ERANGE);
    assert_string_equal(error, "the TSC runs at 20000000 Hz, the trace clock needs more than 20 MHz");
    hubs = kept;
}

/* Sizes that cannot be: one line each, and nothing is taken. */
static void absurd_sizes(void **state)
{
    (void)state;
    static const struct {
        struct kcontrol_params p;
        int e;
        const char *line;
    } rows[] = {
        {{.number = 0, .clock = 1, .buffer_kib = 4, .buffers = 8}, -EINVAL, "session 0: its number is from 1 to 8"},
        {{.number = 9, .clock = 1, .buffer_kib = 4, .buffers = 8}, -EINVAL, "session 9: its number is from 1 to 8"},
        {{.number = 2, .clock = 0, .buffer_kib = 4, .buffers = 8}, -EINVAL, "its clock type from 1 to 3"},
        {{.number = 2, .clock = 4, .buffer_kib = 4, .buffers = 8}, -EINVAL, "its clock type from 1 to 3"},
        {{.number = 2, .clock = 1, .buffer_kib = 4, .buffers = 2}, -EINVAL, "2 trace buffers are too few for 3 CPUs"},
        {{.number = 2, .clock = 1, .circular = true, .buffer_kib = 4, .buffers = 3}, -EINVAL, "give at least 4"},
        {{.number = 2, .clock = 1, .buffer_kib = 3, .buffers = 8}, -EINVAL, "sizes are from 4 to 1024 KiB"},
        {{.number = 2, .clock = 1, .buffer_kib = 1025, .buffers = 8}, -EINVAL, "sizes are from 4 to 1024 KiB"},
        {{.number = 2, .clock = 1, .buffer_kib = UINT32_MAX, .buffers = 8}, -EINVAL, "sizes are from 4 to 1024 KiB"},
        {{.number = 2, .clock = 1, .buffer_kib = 1024, .buffers = UINT32_MAX}, -EINVAL, "session 2: 4294967295 trace"},
        {{.number = 2, .clock = 1, .buffer_kib = 1024, .buffers = 1024 * 1024}, -ENOMEM, "are free: ask for fewer"},
        {{.number = 2, .clock = 1, .buffer_kib = 1024, .buffers = 4}, -ENOMEM, "need 4097 KiB, "},
    };
    size_t taken = pages_taken;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        error[0] = '\0';
        assert_int_equal(kcontrol_create(&rows[i].p, error, sizeof error), rows[i].e);
        if (!strstr(error, rows[i].line))
            fail_msg("%s", error);
        assert_null(strchr(error, '\n'));
        assert_null(kcontrol_session(2));
        assert_int_equal(pages_taken, taken);
    }
}

/* PMC items: of sources that somebody counts; their names are told on CPU 0 whenever the session begins. */
static void items(void **state)
{
    (void)state;
    struct kcontrol_params p = params(2, "full");
    size_t taken = pages_taken;
    p.pmcs = 2;
    p.pmc_source[0] = TRACE_PMC_INSTRUCTION_RETIRED;
    p.pmc_source[1] = TRACE_PMC_BRANCH_INSTRUCTIONS;
    assert_int_equal(kcontrol_create(&p, error, sizeof error), -EINVAL);
    assert_string_equal(error, "session 2: no counter counts source 6: see option session.pmc");
    p.pmcs = TRACE_PMC_MAX + 1;
    p.pmc_source[1] = TRACE_PMC_TOTAL_CYCLES;
    assert_int_equal(kcontrol_create(&p, error, sizeof error), -EINVAL);
    assert_string_equal(error, "session 2: 5 counters on an event: there are at most 4");
    assert_int_equal(pages_taken, taken);
    p.pmcs = 2;
    assert_int_equal(kcontrol_create(&p, error, sizeof error), 0);
    for (unsigned life = 0; life < 2; life++) {
        assert_int_equal(kcontrol_start(2, NULL), 0);
        assert_int_equal(kcontrol_stop(2), 0);
    }
    assert_int_equal(times_configured, 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(configured[i].cpu == 0 && configured[i].pmcs == 2);
        assert_int_equal(configured[i].source[0], TRACE_PMC_INSTRUCTION_RETIRED);
        assert_true(configured[i].pmc[0] == 1 && configured[i].pmc[1] == 0);
    }
}

/* Somebody may be reading the buffers of a live one, whether it runs or not. */
static void live_ones_stay(void **state)
{
    (void)state;
    struct kcontrol_params p = params(5, "full");
    p.live = true;
    assert_int_equal(kcontrol_create(&p, error, sizeof error), 0);
    assert_true(trace_session_config(kcontrol_session(5))->live);
    assert_int_equal(kcontrol_destroy(5), -EBUSY);
    kcontrol_session(5)->config.live = false; /* for the end of the test */
}

/* All that is taken for a session comes back with it, again and again. */
static void made_and_unmade(void **state)
{
    (void)state;
    size_t taken = pages_taken;
    for (unsigned i = 0; i < 50; i++) {
        for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++) {
            struct kcontrol_params p = params(number, "compact");
            p.clock = 1 + number % 3;
            assert_int_equal(kcontrol_create(&p, error, sizeof error), 0);
            assert_int_equal(kcontrol_create(&p, error, sizeof error), -EEXIST);
            assert_int_equal(kcontrol_start(number, NULL), 0);
            assert_int_equal(kcontrol_destroy(number), -EBUSY);
        }
        for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++) {
            assert_int_equal(kcontrol_stop(number), 0);
            assert_int_equal(kcontrol_destroy(number), 0);
            assert_int_equal(kcontrol_destroy(number), -ENOENT);
        }
        assert_int_equal(pages_taken, taken);
        truths = 0;
    }
}

static void states(void **state)
{
    (void)state;
    struct kcontrol_info info;
    struct kcontrol_params p = params(2, "full");
    p.buffers = 12;
    struct perfinfo_groupmask other = box_masks(BOX_COMPACT), masks;
    assert_int_equal(kcontrol_masks(2, &masks), -ENOENT);
    assert_int_equal(kcontrol_start(2, NULL), -ENOENT);
    assert_int_equal(kcontrol_stop(2), -ENOENT);
    assert_int_equal(kcontrol_change(2, &other), -ENOENT);
    assert_int_equal(kcontrol_query(2, &info), -ENOENT);
    assert_int_equal(kcontrol_query(0, &info), -ENOENT);
    assert_int_equal(kcontrol_query(9, &info), -ENOENT);
    assert_int_equal(kcontrol_create(&p, error, sizeof error), 0);
    assert_int_equal(kcontrol_stop(2), -EINVAL);
    assert_int_equal(kcontrol_change(2, &other), -EINVAL);
    assert_int_equal(kcontrol_masks(2, &masks), -EINVAL);
    assert_int_equal(calls, 0);
    assert_int_equal(kcontrol_query(2, &info), 0);
    assert_true(!info.running && !info.lives && !info.start_tsc && !info.stop_tsc);
    assert_int_equal(info.config.number, 2);
    assert_int_equal(info.config.buffer_bytes, 4096);
    assert_int_equal(kcontrol_start(2, NULL), 0);
    assert_int_equal(kcontrol_start(2, NULL), -EBUSY);
    assert_int_equal(kcontrol_query(2, &info), 0);
    assert_true(info.running && info.lives == 1 && info.start_tsc && !info.stop_tsc);
    assert_memory_equal(&info.masks, &p.masks, sizeof info.masks);
    uint64_t start = info.start_tsc;
    assert_int_equal(kcontrol_change(2, &other), 0);
    assert_true(kcontrol_masks(2, &masks) == 0 && memcmp(&masks, &other, sizeof masks) == 0);
    assert_int_equal(kcontrol_stop(2), 0);
    assert_int_equal(kcontrol_query(2, &info), 0);
    assert_true(!info.running && info.start_tsc == start && info.stop_tsc > start);
    assert_memory_equal(&info.masks, &other, sizeof info.masks);
    assert_memory_equal(&info.config.masks, &p.masks, sizeof info.masks);
    assert_int_equal(kcontrol_start(2, &p.masks), 0);
    assert_int_equal(kcontrol_query(2, &info), 0);
    assert_true(info.lives == 2 && info.start_tsc == start);
    assert_int_equal(info.sum.events_written, CPUS * 4);
    assert_int_equal(calls, 4);
    assert_int_equal(changes_told, 4);
    assert_false(locked);
    /* The truth: each CPU's, in the order of the calls. */
    static const uint8_t whats[] = {CAIRN_SESSION_START, CAIRN_SESSION_MASKS, CAIRN_SESSION_STOP, CAIRN_SESSION_START};
    assert_int_equal(truths, CPUS * 4);
    for (unsigned i = 0; i < truths; i++) {
        assert_int_equal(truth[i].what, whats[i / CPUS]);
        assert_int_equal(truth[i].cpu, i % CPUS);
        assert_int_equal(truth[i].session, 2);
        assert_int_equal(truth[i].life, i / CPUS == 3);
        assert_true(i == 0 || truth[i].tsc > truth[i - 1].tsc);
    }
}

static void then_here(void *unused)
{
    (void)unused;
    assert_true(trace_hub_on(cpus[here].trace)); /* before the counters count, and until they have stopped */
    calls += 100;
}

/* All at once, as the run begins and ends; one that was stopped before is left alone. */
static void all_at_once(void **state)
{
    (void)state;
    struct kcontrol_info info;
    for (uint32_t number = 1; number <= 3; number++) {
        struct kcontrol_params p = params(number, "compact");
        assert_int_equal(kcontrol_create(&p, error, sizeof error), 0);
    }
    kcontrol_start_all(then_here);
    assert_int_equal(calls, 1 + 100 * CPUS);
    for (uint32_t number = 1; number <= 3; number++)
        assert_true(kcontrol_query(number, &info) == 0 && info.running && info.lives == 1);
    assert_int_equal(kcontrol_stop(3), 0);
    kcontrol_query(3, &info);
    uint64_t stop = info.stop_tsc;
    kcontrol_stop_all(then_here);
    for (uint32_t number = 1; number <= 3; number++)
        assert_true(kcontrol_query(number, &info) == 0 && !info.running);
    assert_int_equal(info.stop_tsc, stop);
    for (uint32_t i = 0; i < CPUS; i++)
        assert_false(trace_hub_on(cpus[i].trace));
    assert_int_equal(truths, CPUS * 6);
    assert_int_equal(changes_told, 6);
}

/* Events carry what the CPU's Debug Store shows, or nothing without one. */
static void stamps(void **state)
{
    (void)state;
    volatile uint64_t index = 0x12340;
    uint32_t unused;
    struct kcontrol_params p = params(1, "full");
    cpus[1].pebs_stamp = &index;
    assert_int_equal(kcontrol_create(&p, error, sizeof error), 0);
    kcontrol_start(1, NULL);
    kcontrol_stop(1);
    struct trace_session *s = kcontrol_session(1);
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
    struct kcontrol_params p = params(1, "both");
    cpus[1].pebs_stamp = &index;
    assert_int_equal(kcontrol_create(&p, error, sizeof error), 0);
    kcontrol_start(1, NULL);
    meanwhile = pebs_ends;
    assert_int_equal(kcontrol_stamp(1, 0, CAIRN_STAMP_FULL), -ENODEV);
}

/* The events of session 1 on one CPU, in order. */
static unsigned events_of(uint32_t cpu, struct cairn_session_event e[8])
{
    struct trace_session *s = kcontrol_session(1);
    uint32_t buffers = trace_session_buffers(s), unused;
    unsigned n = 0;
    for (uint32_t i = 0, at; i < buffers; i++) {
        const struct wmi_buffer_header *h = trace_session_buffer(s, i, &unused);
        struct naive_event event;
        bool ok;
        at = 0;
        while (h->processor_index == cpu && n < 8 && naive_next((const uint8_t *)h, &at, &event, &ok))
            memcpy(&e[n++], event.payload, sizeof e[0]);
    }
    return n;
}

/* Which switch events carry PebsIndex, turned on and off, on all CPUs that have one. */
static void stamps_chosen(void **state)
{
    (void)state;
    volatile uint64_t index = 0x12340;
    struct kcontrol_params p = params(1, "both");
    struct kcontrol_info info;
    struct cairn_session_event e[8];
    const uint32_t full = CAIRN_STAMP_FULL, compact = CAIRN_STAMP_COMPACT, all = full | compact;
    cpus[1].pebs_stamp = &index;
    assert_int_equal(kcontrol_stamp(1, full, 0), -ENOENT);
    assert_int_equal(kcontrol_stamp(9, full, 0), -ENOENT);
    assert_int_equal(kcontrol_create(&p, error, sizeof error), 0);
    assert_int_equal(kcontrol_stamp(1, full, 0), -EINVAL);
    kcontrol_start(1, NULL);
    kcontrol_query(1, &info);
    assert_int_equal(info.stamps, all);
    cpus[1].pebs_stamp = NULL;
    assert_int_equal(kcontrol_stamp(1, 0, all), -ENODEV);
    kcontrol_query(1, &info);
    assert_int_equal(info.stamps, all);
    cpus[1].pebs_stamp = &index;
    static const struct { uint32_t on, off, then; } rows[] = {{0, 3, 0}, {1, 0, 1}, {2, 0, 3}, {0, 1, 2}};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(kcontrol_stamp(1, rows[i].on, rows[i].off), 0);
        kcontrol_query(1, &info);
        assert_int_equal(info.stamps, rows[i].then);
    }
    kcontrol_stop(1);
    kcontrol_start(1, NULL); /* a new life has all of them */
    kcontrol_stop(1);
    static const uint8_t stamps_told[] = {3, 0, 1, 3, 2, 2, 3, 3};
    for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
        assert_int_equal(events_of(cpu, e), 8);
        for (unsigned i = 0; i < 8; i++)
            assert_int_equal(e[i].stamps, cpu == 1 ? stamps_told[i] : 0);
    }
    assert_int_equal(truths, CPUS * 8);
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
        struct kcontrol_params p = params(number, "compact");
        assert_int_equal(kcontrol_create(&p, error, sizeof error), 0);
    }
    there = 0x777000;
    kcontrol_start(1, NULL);
    here = 2;
    moves = false;
    kcontrol_move_pebs(move_there, (void *)(uintptr_t)&there);
    moves = true;
    kcontrol_move_pebs(move_there, (void *)(uintptr_t)&there);
    kcontrol_move_pebs(move_there, (void *)(uintptr_t)&there);
    assert_false(locked);
    kcontrol_stop(1);
    assert_int_equal(events_of(0, e), 2);
    assert_int_equal(events_of(2, e), 4);
    assert_true(e[1].what == CAIRN_SESSION_MASKS && e[1].stamps == 3 && e[1].pebs_index == 0x777000);
    assert_true(e[2].what == CAIRN_SESSION_MASKS && !e[2].stamps && !e[2].pebs_index);
    assert_memory_equal(e[1].masks, e[0].masks, sizeof e[0].masks);
    assert_int_equal(truths, 2 * CPUS + 2);
}

/* A panic: what runs is closed, wherever it is, and stays closed. */
static void panicked(void **state)
{
    (void)state;
    struct kcontrol_info info;
    struct kcontrol_params p = params(1, "compact");
    assert_int_equal(kcontrol_create(&p, error, sizeof error), 0);
    p.number = 4;
    assert_int_equal(kcontrol_create(&p, error, sizeof error), 0);
    kcontrol_start(1, NULL);
    kcontrol_start(4, NULL);
    for (uint32_t i = 1; i <= 100; i++) {
        struct trace_switch sw = box_switch_at(arch_rdtsc(), i);
        trace_hub_switch(cpus[i % CPUS].trace, &sw);
    }
    kcontrol_settle();
    const uint64_t tsc = arch_rdtsc();
    kcontrol_freeze(tsc);
    for (uint32_t number = 1; number <= 4; number += 3) {
        assert_int_equal(kcontrol_query(number, &info), 0);
        assert_true(!info.running && info.stop_tsc == tsc);
        assert_int_equal(info.sum.compact_written, 100);
        assert_int_equal(info.sum.events_lost, 0);
        assert_true(box_account_holds(kcontrol_session(number)));
    }
}

/* A spin lock taken and let go of on CPU 1. */
static void use_lock(const void *spinlock)
{
    here = 1;
    if (cpus[1].locktrace) {
        struct klocktrace_query query = klocktrace_query();
        klocktrace_acquired(spinlock, SPINLOCK_QUEUED, &query, 0);
        klocktrace_released(spinlock, arch_rdtsc(), spinlock);
    }
    here = 0;
}

/* Hook IDs of what session `number` has of CPU 1, but for what it is told of other sessions. */
static unsigned hooks_of(uint32_t number, uint16_t *hook, unsigned room)
{
    struct trace_session *s = kcontrol_session(number);
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
    struct kcontrol_params with = params(1, "compact+spinlock"), without = params(2, "compact");
    kopt.spinlock = (struct trace_spinlock_sampling){1, 1000, 1, 0, true};
    klocktrace_init(&kopt.spinlock);
    for (uint32_t i = 0; i < CPUS; i++)
        cpus[i].current = &thread;
    assert_int_equal(kcontrol_create(&with, error, sizeof error), 0);
    assert_int_equal(kcontrol_create(&without, error, sizeof error), 0);
    kcontrol_start(2, NULL);
    use_lock(&spinlock); /* nobody wants it */
    assert_null(cpus[1].locktrace);
    kcontrol_start(1, NULL);
    const struct trace_spinlock_sampling other = {2, 3000, 4, 0, true};
    kcontrol_sample_spinlocks(&other); /* told to those who want them */
    assert_int_equal(kcontrol_spinlock_sampling().acquire_sample_rate, 3000);
    use_lock(&spinlock);
    kcontrol_change(2, &with.masks);
    kcontrol_change(1, &without.masks);
    use_lock(&spinlock);
    kcontrol_stop(2);
    assert_null(cpus[1].locktrace);
    use_lock(&spinlock);
    kcontrol_stop(1);

    static const uint16_t first[] = {HOOK_CAIRN_SESSION, HOOK_SPINLOCK_DC_START, HOOK_SPINLOCK_DC_START,
                                     HOOK_SPINLOCK,      HOOK_SPINLOCK_DC_END,   HOOK_CAIRN_SESSION,
                                     HOOK_CAIRN_SESSION};
    static const uint16_t second[] = {HOOK_CAIRN_SESSION, HOOK_CAIRN_SESSION,   HOOK_SPINLOCK_DC_START,
                                      HOOK_SPINLOCK,      HOOK_SPINLOCK_DC_END, HOOK_CAIRN_SESSION};
    assert_int_equal(hooks_of(1, hook, 32), 7);
    assert_memory_equal(hook, first, sizeof first);
    assert_int_equal(hooks_of(2, hook, 32), 6);
    assert_memory_equal(hook, second, sizeof second);
    assert_int_equal(klocktrace_counts(1).released, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(too_slow_a_clock, begin, end),
        cmocka_unit_test_setup_teardown(absurd_sizes, begin, end),
        cmocka_unit_test_setup_teardown(items, begin, end),
        cmocka_unit_test_setup_teardown(live_ones_stay, begin, end),
        cmocka_unit_test_setup_teardown(made_and_unmade, begin, end),
        cmocka_unit_test_setup_teardown(states, begin, end),
        cmocka_unit_test_setup_teardown(all_at_once, begin, end),
        cmocka_unit_test_setup_teardown(stamps, begin, end),
        cmocka_unit_test_setup_teardown(stamps_too_late, begin, end),
        cmocka_unit_test_setup_teardown(stamps_chosen, begin, end),
        cmocka_unit_test_setup_teardown(pebs_moved, begin, end),
        cmocka_unit_test_setup_teardown(panicked, begin, end),
        cmocka_unit_test_setup_teardown(spin_locks, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
