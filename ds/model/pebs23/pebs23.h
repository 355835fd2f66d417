/* SPDX-License-Identifier: MIT */
/* What the files of this folder share, and what ds/model/variant makes other cores of. */
#pragma once

#include "ds/model/internal.h"
#include "ds/pebs23_layout.h"

extern const struct ds_model_pebs23 ds_model_pebs23;

/* Bytes of the record that the counters `set` cause. */
uint32_t ds_model_pebs23_record_size(const struct ds_model *model, uint64_t set);
/* Writes that record to record->address; false: not mapped. */
bool ds_model_pebs23_write_record(struct ds_model *model, const struct ds_model_record *record,
                                  const struct ds_model_retired *retired);

#define DS_MODEL_FIXED_MORE 0x70u                                  /* of Skymont and Darkmont */
extern const struct ds_model_event_code ds_model_darkmont_codes[]; /* ends with a code of 0 */

/* BR_INST_RETIRED of Cougar Cove and Darkmont, where each kind of branch has a bit in the unit mask: COND_TAKEN_BWD,
 * COND_TAKEN_FWD, COND_NTAKEN, NEAR_RETURN, NEAR_INDIRECT_CALL, NEAR_DIRECT_CALL, NEAR_INDIRECT_JMP, NEAR_DIRECT_JMP.
 * These, and the unions that Intel's lists name. */
/* clang-format off */
#define DS_MODEL_BRANCHES_BY_BIT                                                                                       \
    {0x01C4, DS_MODEL_CONDITIONAL_BACKWARD, 0}, {0x02C4, DS_MODEL_CONDITIONAL_FORWARD, 0},                             \
    {0x03C4, DS_MODEL_CONDITIONAL_TAKEN, 0}, {0x04C4, DS_MODEL_CONDITIONAL_NOT_TAKEN, 0},                              \
    {0x07C4, DS_MODEL_BRANCH_CONDITIONAL, 0}, {0x08C4, DS_MODEL_NEAR_RETURN, 0},                                       \
    {0x10C4, DS_MODEL_NEAR_INDIRECT_CALL, 0}, {0x20C4, DS_MODEL_NEAR_DIRECT_CALL, 0},                                  \
    {0x30C4, DS_MODEL_NEAR_CALL, 0}, {0x40C4, DS_MODEL_NEAR_INDIRECT_JUMP, 0},                                         \
    {0x50C4, DS_MODEL_NEAR_INDIRECT, 0}, {0x80C4, DS_MODEL_NEAR_DIRECT_JUMP, 0},                                       \
    {0xC0C4, DS_MODEL_NEAR_JUMP, 0}, {0xFBC4, DS_MODEL_BRANCH_TAKEN, 0}
/* clang-format on */

/* Groups of the records of both kinds of core; that vector registers are XMM alone is the model's, which sees no more.
 */
#define DS_MODEL_ARCH_GROUPS                                                                                           \
    (IA32_PMC_CFG_C_CNTR_ALLOW | IA32_PMC_CFG_C_CNTR_GP | IA32_PMC_CFG_C_CNTR_FIXED | IA32_PMC_CFG_C_LBR |             \
     IA32_PMC_CFG_C_XMM | IA32_PMC_CFG_C_GPR | IA32_PMC_CFG_C_AUX)

/* Auto counter reload. The SDM's table of MSRs (vol. 4) has CFG_B of PMC2 and those after it, and of fixed counters; in
 * them are bits of PMC2 to PMC7 and of fixed counters 0 and 1. What CPUID.23H.2 says is inferred from that. */
#define DS_MODEL_ACR_RELOADED(gp, fixed) ((DS_BIT(gp) - 4) | (DS_BIT(fixed) - 1) << DS_COUNTER_FIXED)
#define DS_MODEL_ACR_CAUSES              DS_MODEL_ACR_RELOADED(8, 2)
