/* SPDX-License-Identifier: MIT */
#include "trace/pmc/pmc_names.h"

#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/pmc_sources.h"

static const struct source {
    const char *name;
    uint16_t number;
} sources[] = {
    {"Timer", TRACE_PMC_TIMER},
    {"BranchInstructions", TRACE_PMC_BRANCH_INSTRUCTIONS},
    {"TotalCycles", TRACE_PMC_TOTAL_CYCLES},
    {"UnhaltedCoreCycles", TRACE_PMC_UNHALTED_CORE_CYCLES},
    {"InstructionRetired", TRACE_PMC_INSTRUCTION_RETIRED},
    {"BranchInstructionRetired", TRACE_PMC_BRANCH_INSTRUCTION_RETIRED},
};
#define SOURCES (sizeof sources / sizeof sources[0])

const char *trace_pmc_name(uint16_t source)
{
    for (size_t i = 0; i < SOURCES; i++)
        if (sources[i].number == source)
            return sources[i].name;
    return NULL;
}

int trace_pmc_find(const char *name, size_t size)
{
    for (size_t i = 0; i < SOURCES; i++)
        if (strlen(sources[i].name) == size && memcmp(sources[i].name, name, size) == 0)
            return sources[i].number;
    return -ENOENT;
}
