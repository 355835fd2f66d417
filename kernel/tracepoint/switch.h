/* SPDX-License-Identifier: MIT */
/* Where the scheduler and the trace meet: each context switch becomes a record of the sessions. */
#pragma once

#include <stdint.h>

#include "trace/pmc_sources.h"

struct kcpu;
struct kthread;

/* Outgoing side: the CPU switches from `old` to `new` at `tsc`. States and priorities of both are final. Writes the
 * trace. Interrupts off, counting paused, the dispatcher lock held. */
void kswitch_out(struct kcpu *cpu, const struct kthread *old, const struct kthread *new, uint64_t tsc);

/* The values of this CPU's counters that only count (trace/pmc_items.h). Interrupts off, counting paused. */
void kswitch_counters(uint32_t index, uint64_t values[TRACE_PMC_MAX]);
