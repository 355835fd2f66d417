/* SPDX-License-Identifier: MIT */
/*
 * Where an account of what really happens is kept, beside the trace and not from what the trace was given. The
 * functions here do nothing; a kernel that keeps such an account is linked with others in their place: they are weak,
 * as the path of a switch has no room for a table. All are called on the CPU concerned with interrupts off. `tsc` is
 * what the trace was given or what kernel/tracepoint/activity.h returned; where that is 0, no session had an event.
 */
#pragma once

#include "kernel/cpu.h"
#include "kernel/thread.h"
#include "trace/session.h"
#include "trace/wire/format.h"

/* After a switch, on the stack of `incoming`, which owns it. Counting paused, the dispatcher lock held. */
void kwitness_switch(struct kcpu *cpu, const struct kthread *incoming, const struct kthread *previous, uint64_t tsc);

/* `session` has begun, changed or ended on this CPU, in its life `life`, from 0. `masks`: those it has, or had. */
void kwitness_session(struct kcpu *cpu, const struct trace_session *session, enum cairn_session_what what,
                      uint32_t life, const struct perfinfo_groupmask *masks, uint64_t tsc);

/* A thread that was in `state` with these priorities is ready, or has other ones. */
struct kwitness_thread {
    uint8_t state;
    int8_t priority, base;
};
static inline struct kwitness_thread kwitness_look(const struct kthread *thread)
{
    return (struct kwitness_thread){thread->state, thread->priority, thread->base_priority};
}
enum kwitness_what { KWITNESS_READY = 1, KWITNESS_BOOST, KWITNESS_DECAY, KWITNESS_SET };
void kwitness_thread(struct kcpu *cpu, enum kwitness_what what, const struct kthread *thread,
                     struct kwitness_thread before, uint64_t tsc);

/* The interrupt with `frame` has been handled. */
void kwitness_interrupt(struct kcpu *cpu, const struct arch_trap_frame *frame, arch_irq_handler handler, uint64_t begin,
                        uint64_t tsc);
/* A DPC of that thread's stack is done. */
void kwitness_dpc(struct kcpu *cpu, const void *routine, bool timer, uint64_t begin, uint64_t tsc);
/* The interrupt with `frame` has been taken as a sample of `source`; 0: the timer. */
void kwitness_sample(struct kcpu *cpu, const struct arch_trap_frame *frame, uint16_t source, uint64_t tsc);

/* Where the account lies in memory; NULL: nowhere. */
const void *kwitness_memory(void);
