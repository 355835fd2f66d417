/* SPDX-License-Identifier: MIT */
/* The truth of a PEBS record (trace/wire/truth.h): made from what the stepping backend saw of the instruction and from
 * the model's registers as RDMSR gives them, never from the record or from what the model was given for it. */
#pragma once

#include "ds/driver/driver.h"
#include "ds/model/model.h"

/* Two of cairn_truth_pebs (the record, and what it swallowed), state, XMM, branches, counters and metrics, what headers
 * of architectural PEBS say. */
#define DS_TRUTH_RECORDS(words) (((words) + CAIRN_TRUTH_PER_RECORD - 1) / CAIRN_TRUTH_PER_RECORD)
#define DS_TRUTH_RECORDS_MAX                                                                                           \
    (2 + DS_TRUTH_RECORDS(CAIRN_TRUTH_STATES) + DS_TRUTH_RECORDS(32u) + DS_TRUTH_RECORDS(2 * CAIRN_TRUTH_LBR_MAX) +    \
     DS_TRUTH_RECORDS(DS_MAX_COUNTERS + 2) + DS_TRUTH_RECORDS(CAIRN_TRUTH_ARCH_WORDS))

struct ds_truth_history { /* the branches taken last: a ring of its own, beside the model's */
    struct {
        uint64_t from, to;
    } branch[CAIRN_TRUTH_LBR_MAX];
    uint32_t next;
};

struct ds_truth_step {                   /* the instruction that caused the record */
    const struct arch_trap_frame *frame; /* after it */
    uint64_t ip, next;                   /* its address, and where execution went on */
    uint64_t tsc_first, tsc_last;        /* between these the record was written */
    uint32_t tid;
    struct ds_truth_history history;
};

void ds_truth_branch(struct ds_truth_history *history, uint64_t from, uint64_t to);

/* Fills `out`, room for DS_TRUTH_RECORDS_MAX records; returns how many there are. */
uint32_t ds_truth_make(uint8_t out[][CAIRN_TRUTH_BYTES], struct ds_cpu *ds, const struct ds_truth_step *step,
                       const struct ds_model_record *record);

/* How many records of the truth belong to one PEBS record of this configuration. */
uint32_t ds_truth_records(const struct ds_caps *caps, const struct ds_config *config);
