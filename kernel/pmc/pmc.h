/* SPDX-License-Identifier: MIT */
/* PMC items of sessions: those of options session.pmc and session.pmc.hooks, and those that are set while a session
 * runs. An 0F30H event names them. */
#pragma once

#include <stdint.h>

#include "trace/pmc/pmc_items.h"

/* What the options ask for, once sessions are made; no counters: nothing. */
const struct trace_pmc *kpmc_asked(void);

/* What a running session's events carry. Its counters, once and for all, 1 to TRACE_PMC_MAX of different sources
 * (trace/pmc_sources.h). 0, -ENOENT, -EINVAL (it does not run), -EEXIST (it has some), -ENODEV (no counter counts one
 * of these). Thread context, no spinlock held. */
int kpmc_set_counters(uint32_t number, const uint32_t *source, uint32_t count);
/* And the hooks whose events carry them from now on, up to TRACE_PMC_HOOKS_MAX different ones, each of which may
 * (trace_pmc_group); 0: none. 0, -ENOENT, -EINVAL. */
int kpmc_set_hooks(uint32_t number, const uint32_t *hook, uint32_t count);
