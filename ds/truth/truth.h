/* SPDX-License-Identifier: MIT */
/* The truth of a PEBS record (trace/wire/truth.h): made from what the stepping backend saw of the instruction and from
 * the model's registers as RDMSR gives them, never from the record or from what the model was given for it. */
#pragma once

#include "ds/driver/driver.h"
#include "ds/model/model.h"
#include "ds/soft/soft.h"
#include "trace/wire/truth.h"

/* Two of cairn_truth_pebs (the record, and what it swallowed), state, XMM, branches, counters and metrics, what headers
 * of architectural PEBS say. */
#define DS_TRUTH_RECORDS(words) (((words) + CAIRN_TRUTH_PER_RECORD - 1) / CAIRN_TRUTH_PER_RECORD)
#define DS_TRUTH_RECORDS_MAX                                                                                           \
    (2 + DS_TRUTH_RECORDS(CAIRN_TRUTH_STATES) + DS_TRUTH_RECORDS(32u) + DS_TRUTH_RECORDS(2 * CAIRN_TRUTH_LBR_MAX) +    \
     DS_TRUTH_RECORDS(DS_MAX_COUNTERS + 2) + DS_TRUTH_RECORDS(CAIRN_TRUTH_ARCH_WORDS))

/* Fills `out`, room for DS_TRUTH_RECORDS_MAX records; returns how many there are. */
uint32_t ds_truth_make(uint8_t out[][CAIRN_TRUTH_BYTES], struct ds_cpu *ds, const struct ds_soft_step *step,
                       const struct ds_model_record *record);

/* Of a branch that BTS was to store: `stored`, or dropped. */
void ds_truth_make_branch(struct cairn_truth_branch *out, const struct ds_cpu *ds, const struct ds_soft_step *step,
                          const struct ds_model_branch *branch, bool stored);

/* How many truth records belong to one PEBS record of this configuration. */
uint32_t ds_truth_records(const struct ds_caps *caps, const struct ds_config *config);
