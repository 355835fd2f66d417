/* SPDX-License-Identifier: MIT */
/*
 * How a model counts without a call for each instruction. Translated blocks add the number of their events to counts of
 * their vCPU. These are set so that they reach QDS_DUE with the first event that the model must see itself: one that
 * makes a counter overflow, or one that an armed counter waits for. Before the model is read or changed, it gets what
 * has been added.
 */
#pragma once

#include "ds/model/model.h"

#define QDS_DUE (UINT64_C(1) << 62)

/* Events whose number in a block is known when it is translated. */
#define QDS_BLOCK_EVENTS                                                                                               \
    (1u << DS_MODEL_INSTRUCTION | 1u << DS_MODEL_BRANCH | 1u << DS_MODEL_BRANCH_CONDITIONAL |                          \
     1u << DS_MODEL_NEAR_CALL | 1u << DS_MODEL_NEAR_RETURN | 1u << DS_MODEL_FAR_BRANCH)

/* Events that are added when they happen: at most one of each for an instruction. */
#define QDS_ACCESS_EVENTS (1u << DS_MODEL_LOAD | 1u << DS_MODEL_STORE)

/* Counters are grouped by where they count: two rings' blocks move a counter that counts in both. */
enum qds_group { QDS_RING_0, QDS_OTHER_RINGS, QDS_ALL_RINGS, QDS_GROUPS };

struct qds_numbers {
    uint64_t of[QDS_GROUPS][DS_MODEL_EVENTS];
};

struct qds_counting {
    struct qds_numbers *now; /* what blocks add to */
    struct qds_numbers then; /* what it was when the model knew all of it */
    bool forced[QDS_GROUPS];
    bool chosen;
    uint64_t counting[2][DS_MODEL_EVENTS]; /* the model's, when the numbers were chosen by it */
    unsigned moving;                       /* numbers that move counters; the others say nothing */
    struct qds_number {
        uint8_t group, event;
        uint64_t counters; /* that it moves */
    } number[QDS_GROUPS * DS_MODEL_EVENTS];
    bool always;           /* set it before the first arm: QDS_ALL_RINGS' instructions are, whether a counter counts */
    uint64_t instructions; /* them or not: so many */
};

/* Moves the model's counters by what has been added. */
void qds_counting_sync(struct qds_counting *counting, struct ds_model *model);

/* Sets the numbers anew by how far the model's counters are from what it must see. Sync first. */
void qds_counting_arm(struct qds_counting *counting, const struct ds_model *model);

/* Whether a block of the ring (0: CPL 0, 1: others) with so many `events` reaches one that the model must see. */
bool qds_counting_due(const struct qds_counting *counting, unsigned ring, const uint16_t events[DS_MODEL_EVENTS]);

/* Makes the numbers of instructions say so for all blocks of the ring. Until the next arm. */
void qds_counting_force(struct qds_counting *counting, unsigned ring);

/* Which events counters of the group count, as bits of enum ds_model_event. */
unsigned qds_counting_wanted(const struct ds_model *model, enum qds_group group);
