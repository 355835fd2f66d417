/* SPDX-License-Identifier: MIT */
#include "trace/pmc/pmc_items.h"

#include <stddef.h>

#include "trace/hub.h"
#include "trace/session_inside.h"
#include "trace/wire/activity.h"
#include "trace/wire/format.h"
#include "trace/wire/spinlock.h"

void (*trace_pmc_read)(uint32_t cpu, uint64_t values[TRACE_PMC_MAX]);

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

uint32_t trace_pmc_items(const struct trace_pmc *pmc, uint16_t hook)
{
    for (uint32_t i = 0; pmc && i < pmc->hooks; i++)
        if (pmc->hook[i] == hook)
            return pmc->count;
    return 0;
}

void trace_pmc_set(struct trace_session *session, const struct trace_pmc *pmc)
{
    session->config.items = pmc;
}

/* ---- what the trace asks for ------------------------------------------------------------------------------------- */

bool trace_items_read(const struct trace_hub_cpu *hub, uint32_t sessions, uint16_t hook_id,
                      uint64_t counters[TRACE_ITEMS_MAX])
{
    TRACE_EACH_SESSION(i, sessions)
        if (trace_pmc_read && trace_pmc_items(hub->session[i]->items, hook_id)) {
            trace_pmc_read(hub->index, counters);
            return true;
        }
    return false;
}

uint32_t trace_items_make(const struct trace_pmc *pmc, uint16_t hook_id, const uint64_t *counters,
                          uint64_t items[TRACE_ITEMS_MAX])
{
    const uint32_t count = trace_pmc_items(pmc, hook_id);
    for (uint32_t i = 0; i < count; i++)
        items[i] = counters ? counters[pmc->counter[i]] : 0;
    return count;
}
