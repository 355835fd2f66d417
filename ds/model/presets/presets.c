/* SPDX-License-Identifier: MIT */
/* More processors with a Debug Store, and the codes of their events. Sources: those of ds/model/presets.c. */
#include "ds/model/presets.h"
#include "ds/ds.h"
#include "ds/lbr_layout.h"
#include "ds/model/internal.h"

static const struct ds_model_event_code core2[] = {
    {0x01C0, DS_MODEL_LOAD, 0},         /* INST_RETIRED.LOADS */
    {0x02C0, DS_MODEL_STORE, 0},        /* INST_RETIRED.STORES */
    {0x0CC4, DS_MODEL_BRANCH_TAKEN, 0}, /* BR_INST_RETIRED.TAKEN */
    {0},
};

static const struct ds_model_event_code nehalem[] = {
    {0x01C0, DS_MODEL_INSTRUCTION, 0},        /* INST_RETIRED.ANY_P */
    {0x01C2, DS_MODEL_INSTRUCTION, 0},        /* UOPS_RETIRED.ANY */
    {0x02C2, DS_MODEL_INSTRUCTION, 0},        /* UOPS_RETIRED.RETIRE_SLOTS */
    {0x010B, DS_MODEL_LOAD, 0},               /* MEM_INST_RETIRED.LOADS */
    {0x020B, DS_MODEL_STORE, 0},              /* MEM_INST_RETIRED.STORES */
    {0x01C4, DS_MODEL_BRANCH_CONDITIONAL, 0}, /* BR_INST_RETIRED.CONDITIONAL */
    {0x02C4, DS_MODEL_NEAR_CALL, 0},          /* BR_INST_RETIRED.NEAR_CALL */
    {0x04C4, DS_MODEL_BRANCH, 0},             /* BR_INST_RETIRED.ALL_BRANCHES */
    {0},
};

/* Sandy Bridge to Skylake. Skylake's list no longer has UOPS_RETIRED.ALL; programs that were made for the others use it
 * there. */
static const struct ds_model_event_code sandybridge[] = {
    {0x01C0, DS_MODEL_INSTRUCTION, DS_BIT(1)}, /* INST_RETIRED.PREC_DIST */
    {0x01C2, DS_MODEL_INSTRUCTION, 0},         /* UOPS_RETIRED.ALL */
    {0x02C2, DS_MODEL_INSTRUCTION, 0},         /* UOPS_RETIRED.RETIRE_SLOTS */
    {0x81D0, DS_MODEL_LOAD_OR_PREFETCH, 0},    /* MEM_UOPS_RETIRED, MEM_INST_RETIRED.ALL_LOADS */
    {0x82D0, DS_MODEL_STORE, 0},               /* .ALL_STORES */
    {0x01C4, DS_MODEL_BRANCH_CONDITIONAL, 0},
    {0x02C4, DS_MODEL_NEAR_CALL, 0},
    {0x04C4, DS_MODEL_BRANCH, 0}, /* BR_INST_RETIRED.ALL_BRANCHES_PEBS */
    {0x08C4, DS_MODEL_NEAR_RETURN, 0},
    {0x10C4, DS_MODEL_CONDITIONAL_NOT_TAKEN, 0}, /* BR_INST_RETIRED.NOT_TAKEN */
    {0x20C4, DS_MODEL_BRANCH_TAKEN, 0},          /* BR_INST_RETIRED.NEAR_TAKEN */
    {0x40C4, DS_MODEL_FAR_BRANCH, 0},
    {0},
};

static const struct ds_model_event_code goldencove[] = {
    {0x81D0, DS_MODEL_LOAD_OR_PREFETCH, 0},
    {0x82D0, DS_MODEL_STORE, 0},
    {0x02CD, DS_MODEL_STORE, 0}, /* MEM_TRANS_RETIRED.STORE_SAMPLE */
    {0x02C2, DS_MODEL_INSTRUCTION, 0},
    {0x01C4, DS_MODEL_CONDITIONAL_TAKEN, 0},
    {0x11C4, DS_MODEL_BRANCH_CONDITIONAL, 0},
    BRANCHES,
    {0},
};

static const struct ds_model_event_code lioncove[] = {
    {0x81D0, DS_MODEL_LOAD, 0}, /* from here on prefetches are not among them, but have an event of their own */
    {0x82D0, DS_MODEL_STORE, 0},
    {0x84D0, DS_MODEL_PREFETCH, 0}, /* MEM_INST_RETIRED.ALL_SWPF */
    {0x02CD, DS_MODEL_STORE, 0},
    {0x02C2, DS_MODEL_INSTRUCTION, 0},
    {0x01C4, DS_MODEL_CONDITIONAL_BACKWARD, 0}, /* BR_INST_RETIRED.COND_TAKEN_BWD */
    {UMASK2(1) | 0x00C4, DS_MODEL_CONDITIONAL_FORWARD, 0},
    {UMASK2(1) | 0x01C4, DS_MODEL_CONDITIONAL_TAKEN, 0},
    {UMASK2(1) | 0x11C4, DS_MODEL_BRANCH_CONDITIONAL, 0},
    BRANCHES,
    {0},
};

/* From Haswell on with the mode of the call stack. */
#define LBR_CORE    LBR_MSRS(MSR_LASTBRANCH_CORE_0_FROM_IP, MSR_LASTBRANCH_CORE_0_TO_IP, 0)
#define LBR_NEHALEM LBR_MSRS(MSR_LASTBRANCH_0_FROM_IP, MSR_LASTBRANCH_0_TO_IP, 0), .lbr_select = 0x1FF
#define LBR_HASWELL LBR_MSRS(MSR_LASTBRANCH_0_FROM_IP, MSR_LASTBRANCH_0_TO_IP, 0), .lbr_select = 0x3FF

/* With Hyper-Threading: 4 of the 8 GP counters each. */
#define NEHALEM_TO_SKYLAKE SINCE_NEHALEM, .gp_counters = 4, .fixed_counters = 3, .pebs_counters = GP(4)

static const struct ds_model_preset penryn_preset = {
    .name = "penryn",
    .generation = DS_GENERATION_CORE2,
    .signature = 0x00010676,
    .ds = true,
    .ds_cpl = true,
    .perfmon_version = 2,
    .gp_counters = 2,
    .fixed_counters = 3,
    .width = 40,
    .format = 0,
    .pebs_counters = GP(1),
    .lbr_format = LBR_FMT_EIP, /* assumed: no source says which */
    .lbr_depth = 4,
    LBR_CORE,
    .events = core2,
};
ROWS_ADD(ds_model_preset, penryn_preset);

static const struct ds_model_preset nehalem_preset = {
    .name = "nehalem",
    .generation = DS_GENERATION_NEHALEM,
    .signature = 0x000106A5,
    NEHALEM_TO_SKYLAKE,
    .perfmon_version = 3,
    .format = 1,
    .lbr_format = LBR_FMT_EIP_FLAGS,
    .lbr_depth = 16,
    LBR_NEHALEM,
    .events = nehalem,
};
ROWS_ADD(ds_model_preset, nehalem_preset);

static const struct ds_model_preset sandybridge_preset = {
    .name = "sandybridge",
    .generation = DS_GENERATION_SANDYBRIDGE,
    .signature = 0x000206A7,
    NEHALEM_TO_SKYLAKE,
    .microcode = 0x2F, /* PEBS can be used from 28H on */
    .perfmon_version = 3,
    .format = 1,
    .full_width_writes = true,
    .precise_store = true,
    .lbr_format = LBR_FMT_EIP_FLAGS,
    .lbr_depth = 16,
    LBR_NEHALEM,
    .events = sandybridge,
};
ROWS_ADD(ds_model_preset, sandybridge_preset);

static const struct ds_model_preset haswell_preset = {
    .name = "haswell",
    .generation = DS_GENERATION_HASWELL,
    .signature = 0x000306C3,
    NEHALEM_TO_SKYLAKE,
    .perfmon_version = 3,
    .format = 2,
    .full_width_writes = true,
    .lbr_format = LBR_FMT_EIP_FLAGS_TSX,
    .lbr_depth = 16,
    LBR_HASWELL,
    .events = sandybridge,
};
ROWS_ADD(ds_model_preset, haswell_preset);

static const struct ds_model_preset skylake_preset = {
    .name = "skylake",
    .generation = DS_GENERATION_SKYLAKE,
    .signature = 0x000506E3,
    NEHALEM_TO_SKYLAKE,
    .perfmon_version = 4,
    .format = 3,
    .full_width_writes = true,
    .frontend = true,
    .lbr_format = LBR_FMT_INFO,
    .lbr_depth = 32,
    LBR_SKYLAKE,
    .events = sandybridge,
};
ROWS_ADD(ds_model_preset, skylake_preset);

static const struct ds_model_preset sapphirerapids_preset = {
    .name = "sapphirerapids",
    .generation = DS_GENERATION_GOLDENCOVE,
    .signature = 0x000806F8,
    SINCE_ICELAKE(8),
    .la57 = true, /* alone of these processors: of Ice Lake and Lion Cove only servers have it */
    .perfmon_version = 5,
    .slots = 6,
    .format = 4,
    .baseline = true,
    .pdist = GP(1), /* from here on fixed counter 0 records with the instruction after, as others do */
    .data_cfg = MSR_PEBS_DATA_CFG_VALID,
    LBR_ARCHITECTURAL,
    .events = goldencove,
};
ROWS_ADD(ds_model_preset, sapphirerapids_preset);

static const struct ds_model_preset arrowlake_preset = {
    .name = "arrowlake", /* S, but with the PEBS format of H, which has a third kind of core; S has format 6 */
    .generation = DS_GENERATION_LIONCOVE,
    .core_type = CPUID_1AH_EAX_CORE,
    .leaf_23h = true,
    .native_model = 3, /* Lion Cove: assumed, nobody asks for it */
    .signature = 0x000C0662,
    SINCE_ICELAKE(10),
    .perfmon_version = 5,
    .slots = 8,
    .format = 5,
    .baseline = true,
    .pdist = GP(1),
    .data_cfg = MSR_PEBS_DATA_CFG_VALID,
    LBR_ARCHITECTURAL,
    .lbr_logs = true,
    .events = lioncove,
};
ROWS_ADD(ds_model_preset, arrowlake_preset);

static const struct ds_model_preset lunarlake_preset = {
    .name = "lunarlake",
    .generation = DS_GENERATION_LIONCOVE,
    .core_type = CPUID_1AH_EAX_CORE,
    .leaf_23h = true,
    .native_model = 3, /* Lion Cove: assumed, nobody asks for it */
    .signature = 0x000B06D1,
    SINCE_ICELAKE(10),
    .perfmon_version = 5,
    .slots = 8,
    .format = 6,
    .baseline = true,
    .pdist = GP(1),
    .data_cfg = MSR_PEBS_DATA_CFG_VALID | MSR_PEBS_DATA_CFG_CNTR | MSR_PEBS_DATA_CFG_METRICS | UINT64_C(0x3FF) << 32 |
                UINT64_C(0xF) << 48,
    LBR_ARCHITECTURAL,
    .lbr_logs = true,
    .events = lioncove,
};
ROWS_ADD(ds_model_preset, lunarlake_preset);
