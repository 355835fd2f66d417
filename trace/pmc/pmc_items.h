/* SPDX-License-Identifier: MIT */
/* PMC items: an event carries the values of counters at its time. A session has up to four counters, and up to four
 * hooks whose events carry them (ETW_PMC_SUPPORT in Windows, build 10240). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/session.h"

#define TRACE_PMC_MAX       TRACE_ITEMS_MAX /* counters of one session, as Windows had it up to build 14393 */
#define TRACE_PMC_HOOKS_MAX 4u

struct trace_pmc {
    uint32_t count;                 /* at most TRACE_PMC_MAX */
    uint16_t source[TRACE_PMC_MAX]; /* of each: trace/pmc_sources.h */
    uint8_t counter[TRACE_PMC_MAX]; /* of each: which of what trace_pmc_read gives */
    uint32_t hooks;                 /* at most TRACE_PMC_HOOKS_MAX */
    uint16_t hook[TRACE_PMC_HOOKS_MAX];
};

/* What the counters of this CPU hold that only count. On the CPU, interrupts off, counting paused. NULL: all items are
 * 0. */
extern void (*trace_pmc_read)(uint32_t cpu, uint64_t values[TRACE_PMC_MAX]);

/* The group of a hook whose events may carry items: those of what happens at one moment, with a PERFINFO_TRACE_HEADER,
 * the only one that has bits for them. 0: they may not, as 0525H's, whose batch is of many moments. */
uint32_t trace_pmc_group(uint16_t hook);

/* Whether a session with these masks writes events of such a hook. */
bool trace_pmc_writes(const struct perfinfo_groupmask *masks, uint16_t hook);

/* How many items an event of this hook carries. `pmc` may be NULL. */
uint32_t trace_pmc_items(const struct trace_pmc *pmc, uint16_t hook);

/* Sets other items, which stay where they are. They take effect on each CPU when the session starts
 * or changes there. */
void trace_pmc_set(struct trace_session *session, const struct trace_pmc *pmc);
