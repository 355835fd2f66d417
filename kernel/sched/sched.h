/* SPDX-License-Identifier: MIT */
/*
 * The scheduler: preemptive, 32 priorities, per-CPU ready queues, in the manner of Windows, whose words the trace
 * speaks.
 *
 * One spinlock, the dispatcher lock, protects all thread states, ready queues, timers and dispatcher objects. It is
 * held across the stack switch: the outgoing thread takes it, the incoming one releases it. So whoever holds it sees
 * no thread half-switched, a thread made ready cannot start elsewhere before it has left its stack, and both switch
 * hooks see stable states. Lock order: nothing is taken inside it but what the hooks take (nothing).
 *
 * States: Initialized (being created), Ready (in a queue; wait_reason says why it lost its CPU: WrPreempted,
 * WrQuantumEnd or WrYieldExecution), Standby (chosen for a CPU that has not switched yet), Running, Waiting
 * (wait_reason), Terminated. Idle threads are always Running and in no queue, as in Windows. With one lock nothing is
 * ever DeferredReady.
 *
 * A thread made ready goes to an idle CPU it may use (its ideal one, its last one, any other), as Standby. Without one
 * it goes to its ideal CPU: as Standby where it has a higher priority than what runs there, else into that CPU's
 * queue. A CPU that runs out of threads takes the best one out of the others' queues before it idles.
 *
 * Wait time is counted in timer ticks as Windows does: from creation or the begin of the wait, or from the last entry
 * into a ready queue. A thread that goes from its wait straight to an idle CPU has waited since it began to wait; one
 * that had to queue, since it was queued.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/cpu.h"
#include "kernel/thread.h"

#define KSCHED_QUANTUM 2 /* timer ticks, as Windows' desktop editions have it */

/* ---- start, for kernel/main.c */
/* Once, boot processor, after kmem_init and arch_apic_init: interrupt handlers. */
void ksched_init(void);
/* Makes the CPU's idle thread and ready queue; it becomes cpu->current. Boot processor, before the CPU starts.
 * -ENOMEM. */
int ksched_cpu_init(struct kcpu *cpu);
/* The stack of its idle thread, on which an application processor starts (arch_smp_start). */
void *ksched_cpu_stack(const struct kcpu *cpu);
/* On each CPU, last thing, interrupts off: starts the tick, the CPU takes threads from now on. The boot processor
 * leaves its boot stack for good. */
_Noreturn void ksched_enter(void);

/* Context switches so far, all CPUs. */
uint64_t ksched_switches(void);

/* ---- for kernel/sched/threads.c, kernel/sched/wait.c and the objects */
/* Takes the dispatcher lock; interrupts off. */
void ksched_lock(void);
/* Releases it. In a thread a switch that has become due is made first. */
void ksched_unlock(void);
/* The incoming side of a new thread's first switch: runs the hook and releases the lock. */
void ksched_begin_thread(void);

/* The following need the dispatcher lock. */
/* Makes a thread that is in no queue runnable, with a boost (kernel/sched/priority.h). */
void ksched_ready(struct kthread *thread, int increment);
/* Gives the CPU away: the current thread is Waiting or Terminated. Returns, locked, when it runs again. */
void ksched_switch_away(void);
/* The current thread goes behind its equals, where there are any. */
void ksched_yield(void);
/* True where `affinity` holds a CPU in use. */
bool ksched_usable(const struct kcpuset *affinity);
/* A CPU for a new thread: the usable ones in turn. */
uint32_t ksched_ideal_cpu(const struct kcpuset *affinity);

/* ---- for kernel/sched/interrupt.c */
/* kcpu.reschedule where another CPU, or this one without the lock, may be at it: see kernel/cpu.h. */
static inline bool ksched_asked(const struct kcpu *cpu)
{
    return __atomic_load_n(&cpu->reschedule, __ATOMIC_RELAXED);
}

static inline void ksched_ask(struct kcpu *cpu)
{
    __atomic_store_n(&cpu->reschedule, true, __ATOMIC_RELAXED);
}
