/* SPDX-License-Identifier: MIT */
/*
 * Where the scheduler, the Debug Store and the trace meet: nothing else knows more than one of them. Both hooks run with
 * interrupts off, counting paused and the dispatcher lock held.
 */
#pragma once

#include <stdint.h>

struct kcpu;
struct kthread;

/* Outgoing side: `old` leaves, `new` comes, at `tsc`. States and priorities of both are final. Writes the trace. */
void khook_switch_out(struct kcpu *cpu, const struct kthread *old, const struct kthread *new, uint64_t tsc);
/* Incoming side, after the stack switch: `incoming` as the stack in use names it. Writes the truth. */
void khook_switch_in(struct kcpu *cpu, const struct kthread *incoming, const struct kthread *previous, uint64_t tsc);
