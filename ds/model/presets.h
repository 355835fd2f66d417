/* SPDX-License-Identifier: MIT */
/* What rows of processors (ds_model_preset) are made of, for the files that have one. */
#pragma once

#include "ds/layout.h"
#include "ds/model/model.h"

#define GP(n)    (DS_BIT(n) - 1)
#define FIXED(n) ((DS_BIT(n) - 1) << DS_COUNTER_FIXED)

#define UMASK2(n) ((uint64_t)(n) << 40)

/* Branches, from Ice Lake to Lion Cove. */
#define BRANCHES                                                                                                       \
    {0x02C4, DS_MODEL_NEAR_CALL, 0}, {0x08C4, DS_MODEL_NEAR_RETURN, 0},                                                \
        {0x10C4, DS_MODEL_CONDITIONAL_NOT_TAKEN, 0} /* BR_INST_RETIRED.COND_NTAKEN */,                                 \
        {0x20C4, DS_MODEL_BRANCH_TAKEN, 0}, {0x40C4, DS_MODEL_FAR_BRANCH, 0},                                          \
    {                                                                                                                  \
        0x80C4, DS_MODEL_NEAR_INDIRECT, 0                                                                              \
    }

/* Where branch history is, and what MSR_LBR_SELECT may hold. */
#define LBR_MSRS(from, to, info) .lbr_from = (from), .lbr_to = (to), .lbr_info = (info)
/* clang-format off */
#define LBR_SKYLAKE \
    LBR_MSRS(MSR_LASTBRANCH_0_FROM_IP, MSR_LASTBRANCH_0_TO_IP, MSR_LBR_INFO_0), .lbr_select = 0x3FF
/* clang-format on */
#define LBR_ARCHITECTURAL                                                                                              \
    LBR_MSRS(IA32_LBR_0_FROM_IP, IA32_LBR_0_TO_IP, IA32_LBR_0_INFO),                                                   \
        .arch_lbr = true, .lbr_format = IA32_PERF_CAPABILITIES_LBR_FMT, .lbr_depth = 32,                               \
        .lbr_depths = 0x0B /* 8, 16, 32 */

/* What processors have in common from a generation on. */
#define SINCE_NEHALEM .ds = true, .ds_cpl = true, .width = 48, .load_latency = true, .bts_predicted = true
#define SINCE_ICELAKE(gp)                                                                                              \
    SINCE_NEHALEM, .gp_counters = (gp), .fixed_counters = 4, .pebs_counters = GP(gp) | FIXED(4),                       \
                   .full_width_writes = true, .perf_metrics = true, .frontend = true
