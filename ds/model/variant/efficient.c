/* SPDX-License-Identifier: MIT */
/*
 * The efficient core of Arrow Lake and Lunar Lake, Skymont, and that of Panther Lake, Darkmont. Each has 8
 * general-purpose counters and fixed counters 0 to 2 and 4 to 6, all with PEBS.
 *
 * Sources: Intel's lists of events of these cores for the codes (Gracemont and Crestmont have Skymont's); Linux'
 * arch/x86/include/asm/intel-family.h and arch/x86/events/intel/core.c for the native model ID, and for precise
 * distribution, which counters 0 and 1 and fixed counter 0 have.
 */
#include "ds/ds.h"
#include "ds/model/pebs23/pebs23.h"
#include "ds/model/variant/variant.h"

#define COUNTERS       8u
#define FIXED_COUNTERS 3u
#define SKYMONT        3u

/* Their lists do not say that loads include prefetches: inferred that they do not. */
static const struct ds_model_event_code skymont[] = {
    {0x81D0, DS_MODEL_LOAD, 0},               /* MEM_UOPS_RETIRED.ALL_LOADS */
    {0x82D0, DS_MODEL_STORE, 0},              /* MEM_UOPS_RETIRED.ALL_STORES */
    {0x06D0, DS_MODEL_STORE, 0},              /* MEM_UOPS_RETIRED.STORE_LATENCY */
    {0x00C2, DS_MODEL_INSTRUCTION, 0},        /* UOPS_RETIRED.ALL, one an instruction by convention */
    {0x7EC4, DS_MODEL_BRANCH_CONDITIONAL, 0}, /* BR_INST_RETIRED.COND */
    {0x7FC4, DS_MODEL_CONDITIONAL_NOT_TAKEN, 0},
    {0xFEC4, DS_MODEL_CONDITIONAL_TAKEN, 0},
    {0x80C4, DS_MODEL_ANY_TAKEN, 0},    /* BR_INST_RETIRED.TAKEN */
    {0xC0C4, DS_MODEL_BRANCH_TAKEN, 0}, /* BR_INST_RETIRED.NEAR_TAKEN */
    {0xDFC4, DS_MODEL_NEAR_DIRECT_JUMP, 0},
    {0xEFC4, DS_MODEL_NEAR_INDIRECT_JUMP, 0},
    {0xEBC4, DS_MODEL_NEAR_INDIRECT, 0},
    {0xF9C4, DS_MODEL_NEAR_CALL, 0},
    {0xFBC4, DS_MODEL_NEAR_INDIRECT_CALL, 0},
    {0xFDC4, DS_MODEL_NEAR_DIRECT_CALL, 0},
    {0xF7C4, DS_MODEL_NEAR_RETURN, 0},
    {0xBFC4, DS_MODEL_FAR_BRANCH, 0},
    {0},
};

bool ds_model_efficient(const struct ds_model_preset *of, struct ds_model_preset *core)
{
    if (!of->core_type)
        return false;
    *core = *of; /* family, model, record format and branch history are those of the processor */
    core->core_type = CPUID_1AH_EAX_ATOM;
    if (!of->pebs23) {
        core->native_model = SKYMONT;
        core->generation = DS_GENERATION_SKYMONT;
        core->events = skymont;
    } else { /* its native model ID is that of the core beside it */
        core->generation = DS_GENERATION_DARKMONT;
        core->events = ds_model_darkmont_codes;
        core->arch_groups = DS_MODEL_ARCH_GROUPS;
        core->acr_reloaded = DS_MODEL_ACR_RELOADED(COUNTERS, FIXED_COUNTERS);
        core->acr_causes = DS_MODEL_ACR_CAUSES;
    }
    core->gp_counters = COUNTERS;
    core->fixed_counters = FIXED_COUNTERS;
    core->fixed_more = DS_MODEL_FIXED_MORE;
    core->slots = 8;
    core->perf_metrics = core->frontend = false;
    core->pebs_counters = (DS_BIT(COUNTERS) - 1) | (uint64_t)ds_model_fixed(core) << DS_COUNTER_FIXED;
    core->pdist = 3 | DS_BIT(ds_counter_fixed(0));
    core->data_cfg &= MSR_PEBS_DATA_CFG_VALID | MSR_PEBS_DATA_CFG_CNTR;
    if (core->data_cfg & MSR_PEBS_DATA_CFG_CNTR)
        core->data_cfg |= msr_pebs_data_cfg_counters((1u << COUNTERS) - 1, ds_model_fixed(core));
    return true;
}
