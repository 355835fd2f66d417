/* SPDX-License-Identifier: MIT */
/* What a performance counter counts, with the numbers that Windows uses (KPROFILE_SOURCE, and what its HAL adds on
 * Intel processors): in 0F2FH events, and where counters are configured. trace/pmc/pmc_names.h has the names. */
#pragma once

enum trace_pmc_source {
    TRACE_PMC_TIMER = 0,
    TRACE_PMC_BRANCH_INSTRUCTIONS = 6,
    TRACE_PMC_TOTAL_CYCLES = 19,
    TRACE_PMC_UNHALTED_CORE_CYCLES = 25,
    TRACE_PMC_INSTRUCTION_RETIRED = 26,
    TRACE_PMC_BRANCH_INSTRUCTION_RETIRED = 30,
    TRACE_PMC_CAIRN = 0x1000,      /* and up: an event Windows has no source for, by its place in option pebs= */
    TRACE_PMC_CAIRN_ATOM = 0x1100, /* and up: likewise, in option pebs.atom= */
};
