/* SPDX-License-Identifier: MIT */
/*
 * The processors that the model can be, and the event codes of each generation.
 *
 * Sources: SDM vol. 3B, the chapters on each microarchitecture, for counters and formats; Linux'
 * arch/x86/events/intel/{ds,core}.c, and what Linux prints when it boots there, for precise distribution and for the
 * format of each processor. What CPUID.23H of the last two says is put together from these sources and the lists of
 * events: no dump of a real one was at hand.
 */
#include "ds/ds.h"
#include "ds/model/internal.h"
#include "kernel/lib/string.h"

#define GP(n)    (DS_BIT(n) - 1)
#define FIXED(n) ((DS_BIT(n) - 1) << DS_COUNTER_FIXED)

/* SDM vol. 3B, "Pre-defined Architectural Performance Events". */
static const struct ds_model_event_code architectural[] = {
    {0x00C0, DS_MODEL_INSTRUCTION, 0},
    {0x003C, DS_MODEL_INSTRUCTION, 0}, /* UnHalted Core Cycles: one an instruction, see model.h */
    {0x013C, DS_MODEL_INSTRUCTION, 0}, /* UnHalted Reference Cycles */
    {0x00C4, DS_MODEL_BRANCH, 0},
    {0},
};

/* What the tables below have of Intel's lists: docs/reference/events.md says how sure each rule is. Micro-operations
 * that retire, and the slots they take, are by convention one an instruction. */

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

/* Branches, from Ice Lake to Lion Cove. */
#define BRANCHES                                                                                                       \
    {0x02C4, DS_MODEL_NEAR_CALL, 0}, {0x08C4, DS_MODEL_NEAR_RETURN, 0},                                                \
        {0x10C4, DS_MODEL_CONDITIONAL_NOT_TAKEN, 0} /* BR_INST_RETIRED.COND_NTAKEN */,                                 \
        {0x20C4, DS_MODEL_BRANCH_TAKEN, 0}, {0x40C4, DS_MODEL_FAR_BRANCH, 0},                                          \
    {                                                                                                                  \
        0x80C4, DS_MODEL_NEAR_INDIRECT, 0                                                                              \
    }

static const struct ds_model_event_code icelake[] = {
    {0x81D0, DS_MODEL_LOAD_OR_PREFETCH, 0},
    {0x82D0, DS_MODEL_STORE, 0},
    {0x02C2, DS_MODEL_INSTRUCTION, 0},        /* UOPS_RETIRED.SLOTS */
    {0x01C4, DS_MODEL_CONDITIONAL_TAKEN, 0},  /* BR_INST_RETIRED.COND_TAKEN */
    {0x11C4, DS_MODEL_BRANCH_CONDITIONAL, 0}, /* BR_INST_RETIRED.COND */
    BRANCHES,
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

#define UMASK2(n) ((uint64_t)(n) << 40)

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

/* Where branch history is, and what MSR_LBR_SELECT may hold: from Haswell on the call stack, too. */
#define LBR_MSRS(from, to, info) .lbr_from = (from), .lbr_to = (to), .lbr_info = (info)
#define LBR_CORE                 LBR_MSRS(MSR_LASTBRANCH_CORE_0_FROM_IP, MSR_LASTBRANCH_CORE_0_TO_IP, 0)
#define LBR_NEHALEM              LBR_MSRS(MSR_LASTBRANCH_0_FROM_IP, MSR_LASTBRANCH_0_TO_IP, 0), .lbr_select = 0x1FF
#define LBR_HASWELL              LBR_MSRS(MSR_LASTBRANCH_0_FROM_IP, MSR_LASTBRANCH_0_TO_IP, 0), .lbr_select = 0x3FF
/* clang-format off */
#define LBR_SKYLAKE \
    LBR_MSRS(MSR_LASTBRANCH_0_FROM_IP, MSR_LASTBRANCH_0_TO_IP, MSR_LBR_INFO_0), .lbr_select = 0x3FF
/* clang-format on */
#define LBR_ARCHITECTURAL                                                                                              \
    LBR_MSRS(IA32_LBR_0_FROM_IP, IA32_LBR_0_TO_IP, IA32_LBR_0_INFO),                                                   \
        .arch_lbr = true, .lbr_format = IA32_PERF_CAPABILITIES_LBR_FMT, .lbr_depth = 32,                               \
        .lbr_depths = 0x0B /* 8, 16, 32 */

/* What processors have in common from a generation on. */
#define SINCE_NEHALEM      .ds = true, .ds_cpl = true, .width = 48, .load_latency = true, .bts_predicted = true
#define NEHALEM_TO_SKYLAKE SINCE_NEHALEM, .gp_counters = 4, .fixed_counters = 3, .pebs_counters = GP(4)
#define SINCE_ICELAKE(gp)                                                                                              \
    SINCE_NEHALEM, .gp_counters = (gp), .fixed_counters = 4, .pebs_counters = GP(gp) | FIXED(4),                       \
                   .full_width_writes = true, .perf_metrics = true, .frontend = true

/* With Hyper-Threading up to Skylake: 4 of the 8 GP counters each. */
const struct ds_model_preset ds_model_presets[DS_MODEL_PRESETS] = {
    {
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
    },
    {
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
    },
    {
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
    },
    {
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
    },
    {
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
    },
    {
        .name = "icelake",
        .generation = DS_GENERATION_ICELAKE,
        .signature = 0x000706E5,
        SINCE_ICELAKE(8),
        .perfmon_version = 5,
        .slots = 5,
        .format = 4,
        .baseline = true,
        .pdist = FIXED(1),
        .data_cfg = MSR_PEBS_DATA_CFG_VALID,
        .lbr_format = LBR_FMT_INFO,
        .lbr_depth = 32,
        LBR_SKYLAKE,
        .events = icelake,
    },
    {
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
    },
    {
        .name = "arrowlake", /* S, but with the PEBS format of H, which has a third kind of core; S has format 6 */
        .generation = DS_GENERATION_LIONCOVE,
        .core_type = CPUID_1AH_EAX_CORE,
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
    },
    {
        .name = "lunarlake",
        .generation = DS_GENERATION_LIONCOVE,
        .core_type = CPUID_1AH_EAX_CORE,
        .native_model = 3, /* Lion Cove: assumed, nobody asks for it */
        .signature = 0x000B06D1,
        SINCE_ICELAKE(10),
        .perfmon_version = 5,
        .slots = 8,
        .format = 6,
        .baseline = true,
        .pdist = GP(1),
        .data_cfg = MSR_PEBS_DATA_CFG_VALID | MSR_PEBS_DATA_CFG_CNTR | MSR_PEBS_DATA_CFG_METRICS |
                    UINT64_C(0x3FF) << 32 | UINT64_C(0xF) << 48,
        LBR_ARCHITECTURAL,
        .lbr_logs = true,
        .events = lioncove,
    },
    {
        .name = "pantherlake",
        .generation = DS_GENERATION_COUGARCOVE,
        .core_type = CPUID_1AH_EAX_CORE,
        .native_model = 4,
        .signature = 0x000C06C2,
        SINCE_ICELAKE(10), /* the Debug Store for BTS */
        .perfmon_version = 6,
        .slots = 8,
        .format = DS_FORMAT_ARCH,
        .pdist = GP(2) | FIXED(1),
        .arch_groups = DS_MODEL_ARCH_GROUPS | IA32_PMC_CFG_C_CNTR_METRICS,
        .acr_reloaded = DS_MODEL_ACR_RELOADED(10, 4),
        .acr_causes = DS_MODEL_ACR_CAUSES,
        LBR_ARCHITECTURAL,
        .lbr_logs = true,
        .events = cougarcove,
    },
    {
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
        .full_width_writes = true,
        .pebs_counters = GP(8) | FIXED(3) | (uint64_t)DS_MODEL_FIXED_MORE << DS_COUNTER_FIXED,
        .pdist = GP(2) | FIXED(1),
        .arch_groups = DS_MODEL_ARCH_GROUPS,
        .acr_reloaded = DS_MODEL_ACR_RELOADED(8, 3),
        .acr_causes = DS_MODEL_ACR_CAUSES,
        LBR_ARCHITECTURAL,
        .lbr_logs = true,
        .events = ds_model_darkmont_codes,
    },
};

const struct ds_model_preset *ds_model_preset(const char *name)
{
    for (size_t i = 0; i < DS_MODEL_PRESETS; i++)
        if (strcmp(ds_model_presets[i].name, name) == 0)
            return &ds_model_presets[i];
    return NULL;
}

const struct ds_model_event_code *ds_model_event_code(const struct ds_model_preset *preset, uint64_t code)
{
    const struct ds_model_memory *memory = preset->memory;
    const struct ds_model_event_code *const tables[] = {architectural, preset->events, ds_model_slots_codes(preset),
                                                        memory ? memory->common : NULL,
                                                        memory ? memory->codes(preset) : NULL};
    for (size_t t = memory ? 5 : 3; t-- > 0;)
        for (const struct ds_model_event_code *e = tables[t]; e->code; e++)
            if (e->code == code)
                return e;
    return NULL;
}
