/* SPDX-License-Identifier: MIT */
/*
 * The scheduler: preemptive, 32 priorities, one ready queue for each CPU. States, reasons and priorities are
 * those of Windows, because the trace uses Windows' terms; docs/explain/windows.md says where the rules differ.
 *
 * One spinlock, the dispatcher lock, protects all thread states, ready queues, timers and dispatcher objects. It is
 * held across the stack switch: the outgoing thread takes it, the incoming thread releases it. So nobody ever sees a
 * half-switched thread, or starts one that has not left its stack. No other lock is taken while it is held.
 *
 * States: Initialized (being created), Ready (in a queue; wait_reason says why it lost its CPU: WrPreempted,
 * WrQuantumEnd or WrYieldExecution), Standby (chosen for a CPU that has not switched yet), Running, Waiting
 * (wait_reason), Terminated. Idle threads are always Running and in no queue, as in Windows. With one lock there is no
 * need for DeferredReady.
 *
 * A thread that becomes ready goes to an idle CPU that it may use, as Standby: its ideal CPU, its last CPU, or any
 * other. If none is idle, it goes to its ideal CPU: as Standby if its priority is higher than that of the thread there,
 * else into that CPU's queue. A CPU that runs out of threads takes the best thread from the other CPUs' queues before
 * it becomes idle.
 *
 * Wait time is counted in timer ticks, as in Windows: from the thread's creation, the beginning of its wait, or its
 * last entry into a ready queue, whichever was last.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/cpu.h"
#include "kernel/thread.h"

#define KSCHED_QUANTUM 2 /* timer ticks, as Windows' desktop editions have it */

/* ---- start, for kernel/main.c */
/* Installs the interrupt handlers. Once, on the boot processor, after kmem_init and arch_apic_init. */
void ksched_init(void);
/* Makes the CPU's idle thread, which becomes cpu->current, and its ready queue. On the boot processor, before the CPU
 * starts. 0 or -ENOMEM. */
int ksched_cpu_init(struct kcpu *cpu);
/* The stack of its idle thread, on which an application processor starts (arch_smp_start). */
void *ksched_cpu_stack(const struct kcpu *cpu);
/* The last call in the start of each CPU, interrupts off: starts the timer tick; from now on the CPU runs threads. The
 * boot processor never returns to its boot stack. */
_Noreturn void ksched_enter(void);

/* Stops the timer tick of every CPU: no quantum and no sleep ends any more. For the dump after a run, which idle CPUs
 * would disturb a thousand times a second. As kcross_call_all. */
void ksched_stop_ticks(void);

/* Context switches so far, all CPUs. */
uint64_t ksched_switches(void);

/* ---- for kernel/sched/threads.c, kernel/sched/wait.c and the objects */
/* Takes the dispatcher lock; interrupts off. */
void ksched_lock(void);
/* Releases it. In a thread, it first makes a switch that is due. */
void ksched_unlock(void);
/* In a switch: the address space and the FPU's registers of programs, on the old stack. Weak: by default it does
 * nothing. */
void ksched_change_user(struct kthread *old, struct kthread *next);
/* Lets interrupts in, and may wait for one; before and after, they are off. Weak: by default it halts. */
void ksched_idle(void);
/* The incoming side of a new thread's first switch: runs the hook and releases the lock. */
void ksched_begin_thread(void);

/* The following need the dispatcher lock. */
/* Makes a thread that is in no queue runnable, with a boost (kernel/sched/priority.h). */
void ksched_ready(struct kthread *thread, int increment);
/* Switches to another thread; the current one is Waiting or Terminated. Returns, with the lock held, when that thread
 * runs again. */
void ksched_switch_away(void);
/* Lets ready threads of the current thread's priority run first, if there are any. */
void ksched_yield(void);
/* True if `affinity` contains a CPU in use. */
bool ksched_usable(const struct kcpuset *affinity);
/* The ideal CPU of a new thread: each usable CPU in turn. */
uint32_t ksched_ideal_cpu(const struct kcpuset *affinity);

/* ---- for kernel/sched/interrupt.c */
/* Access to kcpu.reschedule without the lock, or while another CPU may access it: see kernel/cpu.h. */
static inline bool ksched_asked(const struct kcpu *cpu)
{
    return __atomic_load_n(&cpu->reschedule, __ATOMIC_RELAXED);
}

static inline void ksched_ask(struct kcpu *cpu)
{
    __atomic_store_n(&cpu->reschedule, true, __ATOMIC_RELAXED);
}
