/* SPDX-License-Identifier: MIT */
#include "kernel/locks/lock_trace.h"

#include "ds/ds.h"
#include "kernel/sched/cross_call.h"
#include "kernel/thread.h"
#include "kernel/tracepoint/witness_locks.h"
#include "trace/hub.h"
#include "trace/wire/spinlock.h"

#define DISPATCH_LEVEL 2u /* of a DPC, and a thread that nothing can preempt, for interrupts are off */

struct hold { /* of one lock, from its acquisition to its release */
    const void *lock;
    uint64_t tsc;
    uint32_t wait, spins;
    uint32_t interrupts; /* of this CPU at the first query */
    uint8_t mode;
};

struct klock_trace_cpu {
    struct trace_spinlock_sampling sampling;
    struct trace_spinlock_counts counts; /* since tracing began */
    uint32_t depth;
    struct hold hold[TRACE_SPINLOCK_DEPTH]; /* in the order of acquisition */
    struct klock_trace_counts sum;
};

static struct klock_trace_cpu cpus[MAX_CPUS];

/* While this lasts nothing is counted here. Returns whether something was, for go_on. */
static bool hold_counting(const struct kcpu *cpu)
{
    bool counting = ds_counting(cpu->active_ds);
    if (counting)
        ds_pause(cpu->active_ds);
    return counting;
}

static void go_on(const struct kcpu *cpu, bool counting)
{
    if (counting)
        ds_resume(cpu->active_ds);
}

/* Does nothing, unless the wing truth is there and keeps an account. */
__attribute__((weak)) void kwitness_acquired(const struct kcpu *cpu, const void *lock, enum spinlock_mode mode,
                                             uint64_t query_tsc, uint32_t interrupts, uint32_t spins, uint64_t tsc)
{
    (void)cpu, (void)lock, (void)mode, (void)query_tsc, (void)interrupts, (void)spins, (void)tsc;
}

__attribute__((weak)) void kwitness_released(const struct kcpu *cpu, const void *lock, const void *caller, uint8_t irql,
                                             uint8_t context, uint64_t tsc)
{
    (void)cpu, (void)lock, (void)caller, (void)irql, (void)context, (void)tsc;
}

/* ---- what a CPU holds -------------------------------------------------------------------------------------------- */

void klock_trace_acquired(const void *lock, enum spinlock_mode mode, const struct klock_trace_query *query,
                          uint32_t spins)
{
    uint64_t tsc = arch_rdtsc();
    const struct kcpu *cpu = kcpu_this();
    bool counting = hold_counting(cpu);
    struct klock_trace_cpu *t = cpu->locktrace;
    trace_spinlock_count(&t->counts, spins);
    if (t->depth == TRACE_SPINLOCK_DEPTH)
        t->sum.untracked++;
    else
        t->hold[t->depth++] = (struct hold){.lock = lock,
                                            .tsc = tsc,
                                            .wait = trace_spinlock_cycles(query->tsc, tsc),
                                            .spins = spins,
                                            .interrupts = query->interrupts,
                                            .mode = (uint8_t)mode};
    kwitness_acquired(cpu, lock, mode, query->tsc, query->interrupts, spins, tsc);
    go_on(cpu, counting);
}

/* The newest one of `lock`: a CPU may share one several times. NULL: taken before tracing began, or untracked. */
static struct hold *find(struct klock_trace_cpu *t, const void *lock)
{
    for (uint32_t i = t->depth; i-- > 0;)
        if (t->hold[i].lock == lock)
            return &t->hold[i];
    return NULL;
}

void klock_trace_converted(const void *lock)
{
    const struct kcpu *cpu = kcpu_this();
    uint64_t tsc = arch_rdtsc();
    bool counting = hold_counting(cpu);
    struct hold *h = find(cpu->locktrace, lock);
    if (h)
        h->mode = SPINLOCK_CONVERTED;
    kwitness_acquired(cpu, lock, SPINLOCK_CONVERTED, 0, 0, 0, tsc);
    go_on(cpu, counting);
}

static uint8_t irql(const struct kcpu *cpu)
{
    return kcpu_in_isr(cpu) ? cpu->irq_vector[cpu->irq_depth - 1] >> 4 : DISPATCH_LEVEL;
}

/* Both: an interrupt came while a DPC ran. */
static uint8_t context(const struct kcpu *cpu)
{
    return (cpu->in_dpc ? WMI_SPINLOCK_EXECUTE_DPC : 0) | (kcpu_in_isr(cpu) ? WMI_SPINLOCK_EXECUTE_ISR : 0);
}

static void drop(struct klock_trace_cpu *t, struct hold *h)
{
    for (t->depth--; h < &t->hold[t->depth]; h++)
        h[0] = h[1];
}

static void write_event(struct klock_trace_cpu *t, const struct kcpu *cpu, const struct hold *h, uint64_t tsc,
                        const void *caller)
{
    const struct wmi_spinlock event = {.spin_lock_address = (uintptr_t)h->lock,
                                       .caller_address = (uintptr_t)caller,
                                       .acquire_time = h->tsc,
                                       .release_time = tsc,
                                       .wait_time_in_cycles = h->wait,
                                       .spin_count = h->spins,
                                       .thread_id = cpu->current->tid,
                                       .interrupt_count = cpu->interrupts - h->interrupts,
                                       .irql = irql(cpu),
                                       .acquire_depth = (uint8_t)t->depth,
                                       .flags = (uint8_t)(h->mode | context(cpu))};
    const struct trace_part part = {&event, sizeof event};
    t->sum.events++;
    trace_hub_event(cpu->trace, tsc, PERF_SPINLOCK, HOOK_SPINLOCK, HOOK_VERSION_SPINLOCK, &part, 1);
}

void klock_trace_released(const void *lock, uint64_t tsc, const void *caller)
{
    const struct kcpu *cpu = kcpu_this();
    bool counting = hold_counting(cpu);
    struct klock_trace_cpu *t = cpu->locktrace;
    struct hold *h = find(t, lock);
    if (h) {
        t->sum.released++;
        if (trace_spinlock_rules(&t->sampling, &t->counts, h->spins, tsc - h->tsc))
            write_event(t, cpu, h, tsc, caller);
        drop(t, h);
    }
    kwitness_released(cpu, lock, caller, irql(cpu), context(cpu), tsc);
    go_on(cpu, counting);
}

/* ---- sessions ---------------------------------------------------------------------------------------------------- */

void klock_trace_init(const struct trace_spinlock_sampling *sampling)
{
    for (uint32_t i = 0; i < MAX_CPUS; i++)
        cpus[i].sampling = *sampling;
}

static void configure_here(void *sampling)
{
    cpus[kcpu_this()->arch.index].sampling = *(const struct trace_spinlock_sampling *)sampling;
    klock_trace_rundown(UINT32_MAX, HOOK_SPINLOCK_DC_START);
}

void klock_trace_configure(struct trace_spinlock_sampling sampling)
{
    kcross_call_all(configure_here, &sampling);
}

struct trace_spinlock_sampling klock_trace_sampling(void)
{
    bool on = arch_irq_save();
    const struct trace_spinlock_sampling sampling = cpus[kcpu_this()->arch.index].sampling;
    arch_irq_restore(on);
    return sampling;
}

void klock_trace_rundown(uint32_t sessions, uint16_t hook_id)
{
    const struct kcpu *cpu = kcpu_this();
    struct trace_hub_cpu *hub = cpu->trace;
    const struct perfinfo_spinlock_config config = trace_spinlock_config(&cpus[cpu->arch.index].sampling);
    const struct trace_part part = {&config, sizeof config};
    trace_hub_event_to(hub, arch_rdtsc(), sessions & trace_hub_sessions(hub, PERF_SPINLOCK), NULL, hook_id,
                       HOOK_VERSION_SPINLOCK_CONFIG, &part, 1);
}

void klock_trace_update(void)
{
    struct kcpu *cpu = kcpu_this();
    struct klock_trace_cpu *t = &cpus[cpu->arch.index];
    bool wanted = trace_hub_wants(cpu->trace, PERF_SPINLOCK);
    if (wanted == (cpu->locktrace != NULL))
        return;
    t->sum.contended += t->counts.contended;
    t->sum.uncontended += t->counts.uncontended;
    t->counts = (struct trace_spinlock_counts){0};
    t->depth = 0;
    cpu->locktrace = wanted ? t : NULL;
}

struct klock_trace_counts klock_trace_counts(uint32_t cpu)
{
    return cpus[cpu].sum;
}
