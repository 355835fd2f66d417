/* SPDX-License-Identifier: MIT */
/* Where the scheduler and the trace meet: each context switch becomes a record of the sessions. */
#pragma once

#include <stdint.h>

struct kcpu;
struct kthread;

/* Outgoing side: the CPU switches from `old` to `new` at `tsc`. States and priorities of both are final. Writes the
 * trace. Interrupts off, counting paused, the dispatcher lock held. */
void kswitch_out(struct kcpu *cpu, const struct kthread *old, const struct kthread *new, uint64_t tsc);

/* Tells that the trace of this switch took `cycles` TSC cycles on that CPU. Weak: by default it does nothing.
 * Interrupts off. */
void kswitch_took(uint32_t cpu, uint64_t cycles);
