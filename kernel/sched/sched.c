/* SPDX-License-Identifier: MIT */
#include "kernel/sched/sched.h"

#include "arch/arch.h"
#include "ds/ds.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/panic.h"
#include "kernel/lib/string.h"
#include "kernel/lock/spinlock.h"
#include "kernel/memory/stack.h"
#include "kernel/options/options.h"
#include "kernel/sched/cross_call.h"
#include "kernel/sched/dpc.h"
#include "kernel/sched/priority.h"
#include "kernel/sched/runq.h"
#include "kernel/sched/threads.h"
#include "kernel/sched/time.h"
#include "kernel/sched/wait.h"
#include "kernel/this_thread.h"
#include "kernel/tracepoint/activity.h"
#include "kernel/tracepoint/switch.h"
#include "kernel/tracepoint/witness.h"

static struct kspinlock dispatcher = KSPINLOCK("dispatcher");

/* All under the dispatcher lock. */
static struct kcpuset online; /* CPUs that take threads into their queues */
static struct kcpuset idle;   /* CPUs that run their idle thread and have no standby thread */
static uint32_t next_ideal;

void ksched_lock(void)
{
    kspin_lock(&dispatcher);
}

uint64_t ksched_switches(void)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < kcpu_count; i++)
        n += __atomic_load_n(&kcpu_table[i]->switches, __ATOMIC_RELAXED);
    return n;
}

bool ksched_usable(const struct kcpuset *affinity)
{
    const struct kcpuset usable = kcpuset_common(affinity, &online);
    return !kcpuset_empty(&usable);
}

uint32_t ksched_ideal_cpu(const struct kcpuset *affinity)
{
    do
        next_ideal = (next_ideal + 1) % kcpu_count;
    while (!kcpuset_has(affinity, next_ideal) || !kcpuset_has(&online, next_ideal));
    return next_ideal;
}

/* ---- choosing a CPU for a thread --------------------------------------------------------------------------------- */

/* Has `cpu` look for a thread: at the end of its interrupt, or of the kernel call that is on this CPU. */
static void request_switch(struct kcpu *cpu)
{
    ksched_ask(cpu);
    if (cpu != kcpu_this())
        arch_ipi(cpu->arch.index, ARCH_VECTOR_RESCHEDULE);
}

static void enqueue(struct kcpu *cpu, struct kthread *thread, bool front)
{
    kthread_set_state(thread, KTHREAD_READY);
    thread->cpu = cpu->arch.index;
    thread->wait_start = ktime_ticks();
    krunq_add(&cpu->ready, thread, front);
    /* A preempted thread may be of use to a CPU that idles: let one come and take it that has not been asked yet, for
     * it takes one thread only. */
    const struct kcpuset takers = kcpuset_common(&idle, &thread->affinity);
    for (uint32_t i = 0; (i = kcpuset_next(&takers, i)) < MAX_CPUS; i++) {
        struct kcpu *taker = kcpu_table[i];
        if (!ksched_asked(taker)) {
            request_switch(taker);
            break;
        }
    }
}

static void make_standby(struct kcpu *cpu, struct kthread *thread)
{
    struct kthread *displaced = cpu->standby;
    bool asked = kcpuset_has(&idle, cpu->arch.index) && ksched_asked(cpu);
    cpu->standby = thread;
    kthread_set_state(thread, KTHREAD_STANDBY);
    thread->cpu = cpu->arch.index;
    kcpuset_remove(&idle, cpu->arch.index);
    if (displaced)
        enqueue(cpu, displaced, true);
    request_switch(cpu);
    if (asked) /* to take a thread out of a queue, which it will not do now: the other idle ones shall look */
        for (uint32_t i = 0; (i = kcpuset_next(&idle, i)) < MAX_CPUS; i++)
            request_switch(kcpu_table[i]);
}

/* Gives a thread to a CPU. */
static void place(struct kthread *thread)
{
    const struct kcpuset allowed = kcpuset_common(&thread->affinity, &online);
    const struct kcpuset idlers = kcpuset_common(&allowed, &idle);
    const uint32_t ideal = thread->ideal_processor, any = kcpuset_next(&idlers, 0);

    if (any < MAX_CPUS) {
        uint32_t i = kcpuset_has(&idlers, ideal) ? ideal : kcpuset_has(&idlers, thread->cpu) ? thread->cpu : any;
        make_standby(kcpu_table[i], thread);
        return;
    }
    struct kcpu *cpu = kcpu_table[kcpuset_has(&allowed, ideal) ? ideal : kcpuset_next(&allowed, 0)];
    const struct kthread *rival = cpu->standby ? cpu->standby : cpu->current;
    if (thread->priority > rival->priority)
        make_standby(cpu, thread);
    else
        enqueue(cpu, thread, false);
}

void ksched_ready(struct kthread *thread, int increment)
{
    struct kcpu *cpu = kcpu_this();
    const struct kactivity_before before = kactivity_look(thread);
    thread->priority = kpriority_boosted(thread->priority, thread->base_priority, increment);
    place(thread);
    if (kactivity_thread)
        kactivity_thread(cpu, KACTIVITY_READY, thread, before, increment);
}

/* ---- choosing a thread for this CPU ------------------------------------------------------------------------------ */

/* The best thread queued here, else, rather than to idle, the best one queued elsewhere that may run here; or NULL. */
static struct kthread *take_ready(struct kcpu *cpu)
{
    struct kcpu *from = cpu;
    struct kthread *best = krunq_first(&cpu->ready, cpu->arch.index);
    if (!best) {
        for (uint32_t i = 1; i < kcpu_count; i++) {
            struct kcpu *other = kcpu_table[(cpu->arch.index + i) % kcpu_count];
            struct kthread *t = krunq_first(&other->ready, cpu->arch.index);
            if (t && (!best || t->priority > best->priority)) {
                best = t;
                from = other;
            }
        }
    }
    if (best)
        krunq_remove(&from->ready, best);
    return best;
}

static struct kthread *select_next(struct kcpu *cpu)
{
    struct kthread *next = cpu->standby;
    cpu->reschedule = false;
    cpu->standby = NULL;
    if (!next)
        next = take_ready(cpu);
    return next ? next : cpu->idle;
}

/* ---- the switch -------------------------------------------------------------------------------------------------- */

/* First act on the incoming stack. The per-CPU data are read anew: this may be another CPU than before. */
static void switched_in(void)
{
    struct kcpu *cpu = kcpu_this();
    struct kthread *self = kthread_from_stack();
    if (self != cpu->current)
        kpanic("sched: CPU %u is on the stack of thread %d, not of thread %u", cpu->arch.index,
               self ? (int)self->tid : -1, cpu->current->tid);
    if (kwitness_switch)
        kwitness_switch(cpu, self, cpu->previous, cpu->switch_tsc);
}

__attribute__((weak)) void ksched_change_user(struct kthread *old, struct kthread *next)
{
    (void)old, (void)next;
}

/* Dispatcher lock held, interrupts off, no interrupt in progress; the current thread's state says why it leaves. */
static void switch_to(struct kcpu *cpu, struct kthread *next)
{
    struct kthread *old = cpu->current;
    if (!kspin_held(&dispatcher))
        kpanic("sched: switch without the dispatcher lock");
    if (arch_read_rflags() & ARCH_RFLAGS_IF)
        kpanic("sched: switch with interrupts on");
    if (cpu->irq_depth)
        kpanic("sched: switch inside an interrupt");
    if (next == old)
        kpanic("sched: switch from thread %u to itself", old->tid);
    if (old->state == KTHREAD_RUNNING && old != cpu->idle)
        kpanic("sched: thread %u leaves its CPU but is still running", old->tid);
    if (!kcpuset_has(&next->affinity, cpu->arch.index))
        kpanic("sched: thread %u may not run on CPU %u", next->tid, cpu->arch.index);

    kthread_set_state(next, KTHREAD_RUNNING);
    next->cpu = cpu->arch.index;
    if (next == cpu->idle) {
        kcpuset_add(&idle, cpu->arch.index);
    } else {
        uint64_t waited = ktime_ticks() - next->wait_start;
        next->waited = waited > UINT32_MAX ? UINT32_MAX : (uint32_t)waited;
        kcpuset_remove(&idle, cpu->arch.index);
    }
    if (next->quantum <= 0)
        next->quantum = KSCHED_QUANTUM;

    uint64_t tsc = arch_rdtsc();
    cpu->previous = old;
    cpu->current = next;
    cpu->switch_tsc = tsc;
    __atomic_store_n(&cpu->switches, cpu->switches + 1, __ATOMIC_RELAXED);
    kswitch_out(cpu, old, next, tsc);
    ksched_change_user(old, next);
    arch_context_switch(&old->context, next->context);
    switched_in();
}

void ksched_begin_thread(void)
{
    switched_in();
    ksched_unlock();
}

void ksched_switch_away(void)
{
    struct kcpu *cpu = kcpu_this();
    switch_to(cpu, select_next(cpu));
}

/* The current thread stays runnable and makes room for the next one. */
static void requeue_and_switch(struct kcpu *cpu, enum kwait_reason reason, bool front)
{
    struct kthread *t = cpu->current;
    t->wait_reason = reason;
    /* Chosen first: a standby thread comes even before a queued one of its priority, `t` itself included. */
    struct kthread *next = select_next(cpu);
    enqueue(cpu, t, front);
    switch_to(cpu, next);
}

void ksched_yield(void)
{
    struct kcpu *cpu = kcpu_this();
    struct kthread *t = cpu->current;
    if (cpu->standby || krunq_highest(&cpu->ready) >= t->priority)
        requeue_and_switch(cpu, KWAIT_WR_YIELD_EXECUTION, false);
}

static void decay(struct kcpu *cpu, struct kthread *thread)
{
    const struct kactivity_before before = kactivity_look(thread);
    thread->priority = kpriority_decayed(thread->priority, thread->base_priority);
    if (kactivity_thread)
        kactivity_thread(cpu, KACTIVITY_DECAY, thread, before, 0);
}

/* Acts on cpu->reschedule where the current thread could go on. Dispatcher lock held, no interrupt in progress. */
static void dispatch(struct kcpu *cpu)
{
    struct kthread *t = cpu->current;
    cpu->reschedule = false;
    if (t == cpu->idle) {
        struct kthread *next = select_next(cpu);
        if (next != t)
            switch_to(cpu, next);
        return;
    }
    bool quantum_end = t->quantum <= 0;
    if (quantum_end)
        decay(cpu, t);
    int best = krunq_highest(&cpu->ready);
    if (cpu->standby || best > t->priority || (quantum_end && best == t->priority))
        requeue_and_switch(cpu, quantum_end ? KWAIT_WR_QUANTUM_END : KWAIT_WR_PREEMPTED, !quantum_end);
    else if (quantum_end)
        t->quantum = KSCHED_QUANTUM;
}

void ksched_unlock(void)
{
    struct kcpu *cpu = kcpu_this();
    if (cpu->reschedule && cpu->irq_depth == 0 && cpu->online)
        dispatch(cpu);
    kspin_unlock(&dispatcher);
}

/* ---- start ------------------------------------------------------------------------------------------------------- */

__attribute__((weak)) void ksched_idle(void)
{
    arch_wait_for_interrupt();
}

static _Noreturn void idle_loop(void *unused)
{
    (void)unused;
    struct kcpu *cpu = kcpu_this();
    arch_timer_start(kopt.tick_us);
    ksched_lock();
    kthread_remember(cpu->idle);
    cpu->online = true;
    kcpuset_add(&online, cpu->arch.index);
    if (!cpu->standby)
        kcpuset_add(&idle, cpu->arch.index);
    cpu->reschedule = true; /* threads may have been queued before there was anybody to ask */
    ksched_unlock();
    for (;;) /* threads come in on the way out of the interrupt */
        ksched_idle();
}

int ksched_cpu_init(struct kcpu *cpu)
{
    char name[KTHREAD_NAME];
    snprintf(name, sizeof name, "idle/%u", cpu->arch.index);
    const struct kthread_params params = {.name = name,
                                          .priority = KPRIORITY_IDLE,
                                          .flags = KTHREAD_IDLE,
                                          .affinity = kcpuset_of(cpu->arch.index),
                                          .entry = idle_loop};
    struct kthread *t = kthread_prepare(&params);
    if (!t)
        return -ENOMEM;
    kthread_set_state(t, KTHREAD_RUNNING);
    t->cpu = t->ideal_processor = cpu->arch.index;
    krunq_init(&cpu->ready);
    cpu->idle = cpu->current = t;
    if (cpu->arch.index == 0)
        kcpuset_add(&online, 0); /* kernel_main may create threads: CPU 0 takes them when it enters */
    return 0;
}

void *ksched_cpu_stack(const struct kcpu *cpu)
{
    return kstack_pointer(cpu->idle);
}

_Noreturn void ksched_enter(void)
{
    struct kcpu *cpu = kcpu_this();
    void *boot_stack;
    if (kthread_from_stack() != cpu->idle)
        arch_context_switch(&boot_stack, arch_context_new(ksched_cpu_stack(cpu), idle_loop, NULL));
    idle_loop(NULL);
}
