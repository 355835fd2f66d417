/* SPDX-License-Identifier: MIT */
/*
 * The processors with architectural PEBS, and the codes of their events. Sources: those of ds/model/presets.c. What
 * CPUID.23H says is put together from these and the lists of events: no dump of a real one was at hand.
 */
#include "ds/model/presets.h"
#include "ds/ds.h"
#include "ds/model/pebs23/pebs23.h"

static const struct ds_model_event_code cougarcove[] = {
    {0x81D0, DS_MODEL_LOAD, 0},        {0x82D0, DS_MODEL_STORE, 0},
    {0x84D0, DS_MODEL_PREFETCH, 0},    {0x02CD, DS_MODEL_STORE, 0},
    {0x02C2, DS_MODEL_INSTRUCTION, 0}, {UMASK2(1) | 0x00C4, DS_MODEL_FAR_BRANCH, 0},
    DS_MODEL_BRANCHES_BY_BIT,          {0},
};

const struct ds_model_event_code ds_model_darkmont_codes[] = {
    {0x81D0, DS_MODEL_LOAD, 0},
    {0x82D0, DS_MODEL_STORE, 0},
    {0x06D0, DS_MODEL_STORE, 0},
    {0x00C2, DS_MODEL_INSTRUCTION, 0},
    {0x01C2, DS_MODEL_INSTRUCTION, 0},             /* UOPS_RETIRED.EOM: the last of each instruction */
    {0x58C4, DS_MODEL_NEAR_INDIRECT_OR_RETURN, 0}, /* BR_INST_RETIRED.NEAR_INDIRECT_OR_RETURN */
    DS_MODEL_BRANCHES_BY_BIT,
    {0},
};

static const struct ds_model_preset pantherlake_preset = {
    .name = "pantherlake",
    .generation = DS_GENERATION_COUGARCOVE,
    .core_type = CPUID_1AH_EAX_CORE,
    .native_model = 4,
    .signature = 0x000C06C2,
    SINCE_ICELAKE(10), /* the Debug Store for BTS */
    .perfmon_version = 6,
    .slots = 8,
    .format = DS_FORMAT_ARCH,
    .pebs23 = &ds_model_pebs23,
    .leaf_23h = true,
    .pdist = GP(2) | FIXED(1),
    .arch_groups = DS_MODEL_ARCH_GROUPS | IA32_PMC_CFG_C_CNTR_METRICS,
    .acr_reloaded = DS_MODEL_ACR_RELOADED(10, 4),
    .acr_causes = DS_MODEL_ACR_CAUSES,
    LBR_ARCHITECTURAL,
    .lbr_logs = true,
    .events = cougarcove,
};
ROWS_ADD(ds_model_preset, pantherlake_preset);

static const struct ds_model_preset clearwaterforest_preset = {
    .name = "clearwaterforest",
    .generation = DS_GENERATION_DARKMONT,
    .signature = 0x000D06D1,
    SINCE_NEHALEM, /* the Debug Store for BTS */
    .perfmon_version = 6,
    .gp_counters = 8,
    .fixed_counters = 3,
    .fixed_more = DS_MODEL_FIXED_MORE,
    .slots = 8,
    .format = DS_FORMAT_ARCH,
    .pebs23 = &ds_model_pebs23,
    .leaf_23h = true,
    .full_width_writes = true,
    .pebs_counters = GP(8) | FIXED(3) | (uint64_t)DS_MODEL_FIXED_MORE << DS_COUNTER_FIXED,
    .pdist = GP(2) | FIXED(1),
    .arch_groups = DS_MODEL_ARCH_GROUPS,
    .acr_reloaded = DS_MODEL_ACR_RELOADED(8, 3),
    .acr_causes = DS_MODEL_ACR_CAUSES,
    LBR_ARCHITECTURAL,
    .lbr_logs = true,
    .events = ds_model_darkmont_codes,
};
ROWS_ADD(ds_model_preset, clearwaterforest_preset);
