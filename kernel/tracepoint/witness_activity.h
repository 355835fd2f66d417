/* SPDX-License-Identifier: MIT */
/* Like kernel/tracepoint/witness.h, but for what happens between switches. `tsc`: of the event; 0: no session had
 * one. */
#pragma once

#include "kernel/tracepoint/activity.h"

/* A thread is ready, or has other priorities. */
void kwitness_thread(struct kcpu *cpu, enum kactivity_what what, const struct kthread *thread,
                     struct kactivity_before before, uint64_t tsc);

/* The interrupt with `frame` has been handled. */
void kwitness_interrupt(struct kcpu *cpu, const struct arch_trap_frame *frame, arch_irq_handler handler, uint64_t begin,
                        uint64_t tsc);
/* A DPC of that thread's stack is done. */
void kwitness_dpc(struct kcpu *cpu, const void *routine, bool timer, uint64_t begin, uint64_t tsc);
/* The interrupt with `frame` has been taken as a sample of `source`; 0: the timer. */
void kwitness_sample(struct kcpu *cpu, const struct arch_trap_frame *frame, uint16_t source, uint64_t tsc);
