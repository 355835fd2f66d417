/* SPDX-License-Identifier: MIT */
/*
 * The gate around every kernel call that can reach the scheduler. With the Debug Store's scope 'thread' counters run
 * only while a sampled thread runs its own code. So kgate_enter pauses them before anything else happens, and
 * kgate_leave resumes them last. In between, interrupts are off, and the thread may be switched out and continue on
 * another CPU. Calls may nest.
 *
 * kernel_irq_enter and kernel_irq_exit (kernel/sched/interrupt.c) do the same for interrupts.
 */
#pragma once

#include <stdbool.h>

#include "ds/ds.h"
#include "kernel/cpu.h"
#include "kernel/thread.h"

/* Returns whether interrupts were on, for kgate_leave. */
static inline bool kgate_enter(void)
{
    bool on = arch_irq_save();
    struct kcpu *cpu = kcpu_this();
    struct kthread *thread = cpu->current;
    if (thread->gate_depth++ == 0 && (thread->flags & KTHREAD_SAMPLED) && cpu->irq_depth == 0)
        ds_pause(cpu->active_ds);
    return on;
}

static inline void kgate_leave(bool on)
{
    struct kcpu *cpu = kcpu_this();
    struct kthread *thread = cpu->current;
    if (--thread->gate_depth == 0 && (thread->flags & KTHREAD_SAMPLED) && cpu->irq_depth == 0)
        ds_resume(cpu->active_ds);
    arch_irq_restore(on);
}
