/* SPDX-License-Identifier: MIT */
#include "kernel/activity/events.h"
#include "kernel/recording/ds.h"
#include "trace/pmc_sources.h"

uint16_t kactivity_source(uint32_t cpu, uint32_t event)
{
    const struct ds_config *config = kds->config[cpu];
    switch (config->event[event].kind) {
    case DS_EVENT_INSTRUCTIONS:
        return TRACE_PMC_INSTRUCTION_RETIRED;
    case DS_EVENT_CYCLES:
        return TRACE_PMC_UNHALTED_CORE_CYCLES;
    case DS_EVENT_BRANCHES:
        return TRACE_PMC_BRANCH_INSTRUCTION_RETIRED;
    default:
        return (uint16_t)((config == &kds->ds ? TRACE_PMC_CAIRN : TRACE_PMC_CAIRN_ATOM) + event);
    }
}
