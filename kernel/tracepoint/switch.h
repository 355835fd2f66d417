/* SPDX-License-Identifier: MIT */
/*
 * Where the scheduler, the Debug Store and the trace meet: nothing else knows more than one of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ds/ds.h"
#include "trace/pmc_sources.h"

struct kcpu;
struct kthread;

/* Once, before the first session: room for what the switch hook costs on each CPU in use. 0 or -ENOMEM. */
int khook_init(void);

/* Both switch hooks run with interrupts off, counting paused and the dispatcher lock held. */

/* Outgoing side: `old` leaves, `new` comes, at `tsc`. States and priorities of both are final. Writes the trace. */
void khook_switch_out(struct kcpu *cpu, const struct kthread *old, const struct kthread *new, uint64_t tsc);
/* Incoming side, after the stack switch: `incoming` as the stack in use names it. Writes the truth. */
void khook_switch_in(struct kcpu *cpu, struct kthread *incoming, const struct kthread *previous, uint64_t tsc);

/* What this CPU's counters hold that only count (trace/pmc_items.h). Interrupts off, counting paused. */
void khook_counters(uint32_t index, uint64_t values[TRACE_PMC_MAX]);

/* What the Debug Store calls (ds/ds.h): closes batches, writes epochs, records and their truth. */
extern const struct ds_hooks khook_ds;

/* The PEBS epoch that runs on a CPU; false: none does, and *epoch is the next. */
bool khook_epoch(uint32_t index, uint32_t *epoch);

/* TSC cycles one call of the switch hook took, over all CPUs, upper bound of its class (1/16 wide). */
struct khook_cost { uint64_t count, min, median, p99; };
struct khook_cost khook_cost(void);
