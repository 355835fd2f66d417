/* SPDX-License-Identifier: MIT */
/* What the running kernel is, where it has what the BPF programs read, and why it cannot be read. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tools/grab/base/symbols.h"

struct grab_kernel {
    char release[65];              /* as uname has it */
    uint64_t offsets, events, pmu; /* addresses of __per_cpu_offset, cpu_hw_events, x86_pmu */
    bool switch_state;             /* sched_switch tells the state (5.18) */
    unsigned bts;                  /* INTEL_PMC_IDX_FIXED_BTS */
    bool counts_missed;            /* it counts kprobes that it skips, and tells (6.7) */
    uint64_t direct_map;           /* architectural PEBS: address of page_offset_base; else 0 */
    struct grab_symbols symbols;
};

/* 0, or GRAB_REFUSED: it has said why, in a line. */
int grab_kernel_find(struct grab_kernel *kernel);
