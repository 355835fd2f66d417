/* SPDX-License-Identifier: MIT */
/*
 * Tests the control of traces as in Windows, on a running machine: what each information class of
 * kernel/windows/sysinfo.h does there, and what it refuses because of the machine's state. One verdict for each class;
 * for the control area, one for each CPU. The trace's classes are tried on session 1 while other threads compute; then
 * all its settings are restored. Lengths and values that are refused before anything of the machine is looked at are in
 * tests/unit/kernel/test_sysinfo.c.
 */
#include "ds/layout.h"
#include "kernel/console/report.h"
#include "kernel/event/event.h"
#include "kernel/gate.h"
#include "kernel/lib/string.h"
#include "kernel/locks/lock_trace.h"
#include "kernel/memory/mem.h"
#include "kernel/options/options.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/sessions.h"
#include "kernel/sched/threads.h"
#include "kernel/windows/control_area.h"
#include "kernel/windows/sysinfo.h"
#include "kernel/windows/trial.h"
#include "kernel/workloads/parts.h"

#define COMPUTERS 2u /* per CPU, beside the tests */

/* ---- 1FH --------------------------------------------------------------------------------------------------------- */

static void try_groupmask(struct ktrial *t)
{
    struct event_trace_groupmask_information i = {.information_class = EVENT_TRACE_GROUP_MASK_INFORMATION,
                                                  .trace_handle = 1},
                                             now;
    ktrial_begin(t, "1FH GroupMask");
    ktrial_expect(t, "query", ktrial_query(&i, sizeof i), STATUS_SUCCESS);
    const struct perfinfo_groupmask before = i.group_masks;
    now = i;
    now.trace_handle = UINT64_C(0xABCD0000FFFF); /* the lower 16 bits count */
    memset(&now.group_masks, 0xA5, sizeof now.group_masks);
    ktrial_expect(t, "query the NT Kernel Logger", ktrial_query(&now, sizeof now), STATUS_SUCCESS);
    ktrial_expect(t, "its masks are not session 1's", (uint64_t)memcmp(&now.group_masks, &before, sizeof before), 0);

    for (unsigned n = 0; n < KTRIAL_NOBODIES; n++) {
        now.trace_handle = ktrial_nobody(n);
        ktrial_expect(t, "query a logger that does not run", ktrial_query(&now, sizeof now),
                      STATUS_WMI_INSTANCE_NOT_FOUND);
        ktrial_expect(t, "set a logger that does not run", ktrial_set(&now, sizeof now), STATUS_WMI_INSTANCE_NOT_FOUND);
    }
    now = i;
    ktrial_expect(t, "query after refusals", ktrial_query(&now, sizeof now), STATUS_SUCCESS);
    ktrial_expect(t, "they have changed the masks", (uint64_t)memcmp(&now.group_masks, &before, sizeof before), 0);

    memset(&i.group_masks, 0, sizeof i.group_masks);
    ktrial_expect(t, "set to nothing", ktrial_set(&i, sizeof i), STATUS_SUCCESS);
    kthread_sleep(2, KWAIT_DELAY_EXECUTION); /* switches nobody shall see */
    now.group_masks.masks[0] = 1;
    ktrial_expect(t, "query after a set", ktrial_query(&now, sizeof now), STATUS_SUCCESS);
    ktrial_expect(t, "it is not what was set", (uint64_t)memcmp(&now.group_masks, &i.group_masks, sizeof before), 0);
    i.group_masks = before;
    ktrial_expect(t, "set back", ktrial_set(&i, sizeof i), STATUS_SUCCESS);
    ktrial_end(t);
}

static void try_time_profile(struct ktrial *t)
{
    struct event_trace_time_profile_information i = {.information_class = EVENT_TRACE_TIME_PROFILE_INFORMATION};
    const uint32_t tick = kopt.tick_us * 10;
    const struct {
        uint32_t asked, interval;
    } rows[] = {{0, tick}, {1, tick}, {2 * tick + 1, 2 * tick}, {tick / 2, tick}, {4 * tick, 4 * tick}};
    ktrial_begin(t, "1FH TimeProfile");
    ktrial_expect(t, "query", ktrial_query(&i, sizeof i), STATUS_SUCCESS);
    ktrial_expect(t, "the interval is", i.profile_interval, tick);
    for (unsigned n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        i.profile_interval = rows[n].asked;
        ktrial_expect(t, "set", ktrial_set(&i, sizeof i), STATUS_SUCCESS);
        i.profile_interval = 0;
        ktrial_expect(t, "query after a set", ktrial_query(&i, sizeof i), STATUS_SUCCESS);
        ktrial_expect(t, "the interval is then", i.profile_interval, rows[n].interval);
    }
    kthread_sleep(24, KWAIT_DELAY_EXECUTION); /* every fourth tick a sample */
    i.profile_interval = tick;
    ktrial_expect(t, "set back", ktrial_set(&i, sizeof i), STATUS_SUCCESS);
    ktrial_end(t);
}

static bool same_sampling(const struct trace_spinlock_sampling *want)
{
    const struct trace_spinlock_sampling is = klock_trace_sampling();
    return is.spin_threshold == want->spin_threshold && is.acquire_sample_rate == want->acquire_sample_rate &&
           is.contention_sample_rate == want->contention_sample_rate && is.hold_threshold == want->hold_threshold &&
           is.every == want->every;
}

static void try_spinlock(struct ktrial *t)
{
    const uint32_t v1 = EVENT_TRACE_SPINLOCK_INFORMATION_V1_BYTES;
    const struct trace_spinlock_sampling before = klock_trace_sampling();
    struct event_trace_spinlock_information i = {.information_class = EVENT_TRACE_SPINLOCK_INFORMATION}, now;
    ktrial_begin(t, "1FH Spinlock");
    ktrial_expect(t, "query", ktrial_query(&i, sizeof i), STATUS_SUCCESS);
    ktrial_expect(t, "SpinThreshold", i.spin_threshold, before.spin_threshold);
    ktrial_expect(t, "AcquireSampleRate", i.acquire_sample_rate, before.acquire_sample_rate);
    ktrial_expect(t, "ContentionSampleRate", i.contention_sample_rate, before.contention_sample_rate);
    ktrial_expect(t, "HoldThreshold", i.hold_threshold, before.hold_threshold);
    now = i;
    now.acquire_sample_rate = 999;
    ktrial_expect(t, "a value below its minimum", ktrial_set(&now, sizeof now), STATUS_INVALID_PARAMETER);
    ktrial_expect(t, "it leaves all as it was", same_sampling(&before), true);

    now = (struct event_trace_spinlock_information){EVENT_TRACE_SPINLOCK_INFORMATION, 2, 3000, 5, 0};
    ktrial_expect(t, "set", ktrial_set(&now, sizeof now), STATUS_SUCCESS);
    struct trace_spinlock_sampling want = {2, 3000, 5, 0, before.every};
    ktrial_expect(t, "it holds", same_sampling(&want), true);
    kthread_sleep(2, KWAIT_DELAY_EXECUTION); /* releases under it */
    now.acquire_sample_rate = want.acquire_sample_rate = 1000;
    now.hold_threshold = 4000000;
    ktrial_expect(t, "set the first version", ktrial_set(&now, v1), STATUS_SUCCESS);
    ktrial_expect(t, "it leaves HoldThreshold alone", same_sampling(&want), true);
    kthread_sleep(2, KWAIT_DELAY_EXECUTION);
    ktrial_expect(t, "set back", ktrial_set(&i, sizeof i), STATUS_SUCCESS);
    ktrial_expect(t, "it is as before", same_sampling(&before), true);
    ktrial_end(t);
}

static uint32_t stamps(void)
{
    const uint32_t all = CAIRN_STAMP_FULL | CAIRN_STAMP_COMPACT;
    return ksession_get(1) ? all & ~ksession_get(1)->without : 0;
}

static void try_pebs(struct ktrial *t)
{
    const uint32_t all = CAIRN_STAMP_FULL | CAIRN_STAMP_COMPACT;
    const kntstatus good = kds->pebs ? STATUS_SUCCESS : STATUS_NOT_SUPPORTED;
    struct ktrial_list i = {.head = {.information_class = EVENT_TRACE_PEBS_TRACING_INFORMATION, .trace_handle = 1},
                            .element = {HOOK_CONTEXTSWAP}};
    ktrial_begin(t, "1FH PebsTracing");
    for (unsigned n = 0; n < KTRIAL_NOBODIES; n++) {
        i.head.trace_handle = ktrial_nobody(n);
        ktrial_expect(t, "a logger that does not run", ktrial_set(&i, ktrial_list_bytes(1)),
                      STATUS_WMI_INSTANCE_NOT_FOUND);
    }
    ktrial_expect(t, "refusals have changed the stamps", stamps(), all);

    i.head.trace_handle = TRACE_HANDLE_NT_KERNEL_LOGGER;
    ktrial_expect(t, "no hook", ktrial_set(&i, ktrial_list_bytes(0)), good);
    ktrial_expect(t, "stamps without a hook", stamps(), good == STATUS_SUCCESS ? 0 : all);
    kthread_sleep(2, KWAIT_DELAY_EXECUTION); /* switches without a stamp */
    ktrial_expect(t, "hook 0524H", ktrial_set(&i, ktrial_list_bytes(1)), good);
    ktrial_expect(t, "stamps with hook 0524H", stamps(), good == STATUS_SUCCESS ? CAIRN_STAMP_FULL : all);
    i.element[0] = HOOK_CONTEXTSWAP_BATCH;
    ktrial_expect(t, "hook 0525H, Cairn's own", ktrial_set(&i, ktrial_list_bytes(1)), good);
    ktrial_expect(t, "stamps with both hooks", stamps(), all);
    ktrial_end(t);
}

/* ---- 81H --------------------------------------------------------------------------------------------------------- */

/* All memory there is, taken away. Each piece by a call of its own: interrupts come in between. */
struct piece {
    struct piece *next;
    size_t pages;
};

static void *take(size_t pages)
{
    bool on = kgate_enter();
    void *p = kmem_pages_alloc(pages);
    kgate_leave(on);
    return p;
}

static void give(void *memory, size_t pages)
{
    bool on = kgate_enter();
    kmem_pages_free(memory, pages);
    kgate_leave(on);
}

static struct piece *take_all(void)
{
    struct piece *all = NULL;
    for (size_t pages = 512; pages; pages /= 2)
        for (struct piece *p; (p = take(pages)); all = p)
            *p = (struct piece){all, pages};
    return all;
}

static void give_all(struct piece *all)
{
    for (struct piece *next; all; all = next) {
        next = all->next;
        give(all, all->pages);
    }
}

static uint64_t area_address;

/* SystemProcessorProfileControlArea; the address it answers with is in area_address. */
static kntstatus area(uint8_t allocate)
{
    struct system_processor_profile_control_area i = {.processor_profile_control_area = 0x5A5A, .allocate = allocate};
    kntstatus status = ksysinfo_set(SYSTEM_PROCESSOR_PROFILE_CONTROL_AREA, &i, sizeof i);
    area_address = i.processor_profile_control_area;
    return status;
}

static bool counting(const struct kcpu *cpu)
{
    return cpu->ds && ds_started(cpu->ds);
}

static uint64_t drains(const struct kcpu *cpu)
{
    struct ds_counts c = {0};
    if (cpu->ds)
        ds_cpu_counts(cpu->ds, &c);
    return c.drains;
}

static void try_area_here(struct ktrial *t, const struct kcpu *cpu)
{
    char error[160] = "";
    const bool samples = kds_samples(cpu->arch.index), runs = samples || kds->beside;
    uint64_t first = (uint64_t)(uintptr_t)cpu->ds_area, before = drains(cpu), used = 0;
    ktrial_expect(t, "allocate where there is one", area(1), STATUS_ADDRESS_ALREADY_EXISTS);
    ktrial_expect(t, "it is at", area_address, first);
    ktrial_expect(t, "PEBS runs", counting(cpu), runs);

    ktrial_expect(t, "free", area(0), STATUS_SUCCESS);
    ktrial_expect(t, "its address is then", area_address, 0);
    ktrial_expect(t, "PEBS runs on", counting(cpu), false);
    ktrial_expect(t, "drains", drains(cpu) >= before + samples, true);
    ktrial_expect(t, "PebsIndex is still read", cpu->pebs_stamp || cpu->pebs_index, false);
    ktrial_expect(t, "free where there is none", area(0), STATUS_MEMORY_NOT_ALLOCATED);
    ktrial_expect(t, "start without an area", (uint64_t)-kcontrol_area_start(error, sizeof error), ENOENT);
    kthread_sleep(2, KWAIT_DELAY_EXECUTION); /* switches without PEBS */

    if (!cpu->arch.index) { /* once is enough: memory comes zeroed, that takes time */
        struct piece *all = take_all();
        ktrial_expect(t, "allocate without memory", area(1), STATUS_INSUFFICIENT_RESOURCES);
        ktrial_expect(t, "its address is then", area_address, 0);
        give_all(all);
    }
    ktrial_expect(t, "allocate", area(2), STATUS_SUCCESS); /* any number but 0 */
    const uint64_t *words = (const uint64_t *)(uintptr_t)area_address;
    for (unsigned i = 0; words && i < sizeof(struct ds_area_a0) / sizeof *words; i++)
        used |= words[i];
    ktrial_expect(t, "what it holds", used, 0);
    uint64_t second = area_address;
    ktrial_expect(t, "allocate again", area(1), STATUS_ADDRESS_ALREADY_EXISTS);
    ktrial_expect(t, "it is at", area_address, second);
    ktrial_expect(t, "PEBS runs by itself", counting(cpu), false);
    if (kcontrol_area_start(error, sizeof error))
        kreport(KREPORT_FAIL, "control", "CPU %u: %s", cpu->arch.index, error);
    ktrial_expect(t, "PEBS runs again", counting(cpu), runs);
    ktrial_expect(t, "start where it runs", (uint64_t)-kcontrol_area_start(error, sizeof error), runs ? EBUSY : 0);
}

/* Whether detection saw IA32_MISC_ENABLE say that the Debug Store has no PEBS, as where that is architectural. */
static bool without_pebs(uint32_t cpu)
{
    const struct ds_caps *caps = &kds->caps[cpu];
    for (uint32_t i = 0; i < caps->tests; i++)
        if (strcmp(caps->test[i].name, "IA32_MISC_ENABLE.PEBS_UNAVAIL[12]") == 0)
            return caps->test[i].value;
    return true;
}

static void try_no_area(struct ktrial *t, const char *allocate, const char *free)
{
    ktrial_expect(t, allocate, area(1), STATUS_NOT_SUPPORTED);
    ktrial_expect(t, free, area(0), STATUS_NOT_SUPPORTED);
}

static void try_area(struct ktrial *t)
{
    const struct kcpu *cpu = kcpu_this(); /* the thread's only one */
    char name[sizeof t->name];
    snprintf(name, sizeof name, "81H, CPU %u", cpu->arch.index);
    ktrial_begin(t, name);
    if (!cpu->ds)
        try_no_area(t, "allocate without a backend", "free without a backend");
    else if (without_pebs(cpu->arch.index))
        try_no_area(t, "allocate without PEBS in the Debug Store", "free without PEBS in the Debug Store");
    else
        try_area_here(t, cpu);
    ktrial_end(t);
}

/* ---- the threads ------------------------------------------------------------------------------------------------- */

static struct kevent turn; /* one CPU after another: the first takes all memory */

static void ask(void *argument)
{
    struct ktrial *t = argument;
    bool traces = kcpu_this()->arch.index == kcpu_count - 1;
    kevent_wait(&turn, KWAIT_EXECUTIVE, KWAIT_FOREVER);
    try_area(t);
    if (traces) {
        try_groupmask(t);
        try_time_profile(t);
        try_spinlock(t);
        try_pebs(t);
        ktrial_items(t);
    }
    kevent_set(&turn, KWAIT_INCREMENT);
    while (!kworkload_stopping())
        kthread_sleep(1, KWAIT_DELAY_EXECUTION);
}

static int start(uint64_t seed)
{
    int e = kpart_pingpong(NULL, seed, kcpu_count, 0);
    if (!e)
        e = kpart_hogs(NULL, seed, COMPUTERS * kcpu_count, 4);
    kevent_init(&turn, false, true);
    for (uint32_t i = 0; i < kcpu_count && !e; i++) {
        struct ktrial *t = kworkload_alloc(sizeof *t);
        if (!t)
            return -ENOMEM;
        e = kworkload_thread("control", i, KPRIORITY_NORMAL + 1, i, ask, t);
    }
    return e;
}

KWORKLOAD(control, start);
