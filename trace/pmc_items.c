/* SPDX-License-Identifier: MIT */
#include "trace/pmc_items.h"

#include <stddef.h>

#include "trace/wire/activity.h"
#include "trace/wire/format.h"

/* Whose events they are in. */
static const struct {
    uint16_t hook;
    uint32_t group;
} rows[] = {
    {HOOK_CONTEXTSWAP, PERF_CONTEXT_SWITCH},
    {HOOK_SPINLOCK, PERF_SPINLOCK},
    {HOOK_READY_THREAD, PERF_DISPATCHER},
    {HOOK_SET_PRIORITY, PERF_PRIORITY},
    {HOOK_SET_BASE_PRIORITY, PERF_PRIORITY},
    {HOOK_SAMPLED_PROFILE, PERF_PROFILE},
    {HOOK_PMC_INTERRUPT, PERF_PMC_PROFILE},
    {HOOK_INTERRUPT, PERF_INTERRUPT},
    {HOOK_DPC, PERF_DPC},
    {HOOK_TIMER_DPC, PERF_DPC},
    {HOOK_MARK, PERF_CAIRN_MARK},
};

uint32_t trace_pmc_group(uint16_t hook)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].hook == hook)
            return rows[i].group;
    return 0;
}

bool trace_pmc_writes(const struct perfinfo_groupmask *masks, uint16_t hook)
{
    uint32_t group = trace_pmc_group(hook);
    return hook == HOOK_CONTEXTSWAP ? trace_group_full(masks) : group && trace_group_on(masks, group);
}
