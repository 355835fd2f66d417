/* SPDX-License-Identifier: MIT */
/*
 * The truth of the live events (truth=1): what has happened, read afterwards from threads, stacks and registers, and
 * not from what the trace was given. `tsc` is what kernel/tracepoint/activity.h returned; if it is 0, no session had
 * such an event, and nothing is written. On the CPU concerned, interrupts off.
 */
#pragma once

#include "kernel/cpu.h"
#include "kernel/thread.h"
#include "trace/wire/truth.h"

/* A thread that was in `state` with these priorities is ready, or has other ones. */
struct kactivity_truth_thread {
    uint8_t state;
    int8_t priority, base;
};
static inline struct kactivity_truth_thread kactivity_truth_look(const struct kthread *thread)
{
    return (struct kactivity_truth_thread){thread->state, thread->priority, thread->base_priority};
}
void kactivity_truth_thread(struct kcpu *cpu, enum cairn_thread_what what, const struct kthread *thread,
                            struct kactivity_truth_thread before, uint64_t tsc);

/* The interrupt with `frame` has been handled. */
void kactivity_truth_interrupt(struct kcpu *cpu, const struct arch_trap_frame *frame, arch_irq_handler handler,
                               uint64_t begin, uint64_t tsc);
/* A DPC of that thread's stack is done. */
void kactivity_truth_dpc(struct kcpu *cpu, const void *routine, bool timer, uint64_t begin, uint64_t tsc);
/* The interrupt with `frame` has been taken as a sample: PROFILE, or PMC of `source`. */
void kactivity_truth_sample(struct kcpu *cpu, enum cairn_interrupt_what what, const struct arch_trap_frame *frame,
                            uint16_t source, uint64_t tsc);
