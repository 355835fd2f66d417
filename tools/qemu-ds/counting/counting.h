/* SPDX-License-Identifier: MIT */
/*
 * How a model counts without a call for each instruction. Translated blocks add the number of their events to counts of
 * their vCPU. These are set so that they reach QDS_DUE with the first event that the model must see itself: one that
 * makes a counter overflow, or one that an armed counter waits for. Before the model is read or changed, it gets what
 * has been added.
 *
 * What a block costs is what it stores. So a group's instructions and branches are two fields of one number, its lead.
 */
#pragma once

#include "ds/model/model.h"

#define QDS_DUE (UINT64_C(1) << 62)

/* Events whose number in a block is known when it is translated. So are loads and stores of most instructions
 * (qds_access_decoded.certain). */
#define QDS_BLOCK_EVENTS                                                                                               \
    (DS_BIT(DS_MODEL_INSTRUCTION) | DS_BIT(DS_MODEL_BRANCH) | DS_BIT(DS_MODEL_BRANCH_CONDITIONAL) |                    \
     DS_BIT(DS_MODEL_NEAR_CALL) | DS_BIT(DS_MODEL_NEAR_RETURN) | DS_BIT(DS_MODEL_FAR_BRANCH) |                         \
     DS_BIT(DS_MODEL_NEAR_DIRECT_CALL) | DS_BIT(DS_MODEL_NEAR_INDIRECT_CALL) | DS_BIT(DS_MODEL_NEAR_DIRECT_JUMP) |     \
     DS_BIT(DS_MODEL_NEAR_INDIRECT_JUMP) | DS_BIT(DS_MODEL_NEAR_JUMP) | DS_BIT(DS_MODEL_NEAR_INDIRECT) |               \
     DS_BIT(DS_MODEL_NEAR_INDIRECT_OR_RETURN) | DS_BIT(DS_MODEL_BRANCH_UNCONDITIONAL) | DS_BIT(DS_MODEL_NOT_BRANCH) |  \
     DS_BIT(DS_MODEL_REFERENCE))
/* What a branch did, which is known behind it. */
#define QDS_CONDITIONAL_OUTCOMES                                                                                       \
    (DS_BIT(DS_MODEL_CONDITIONAL_TAKEN) | DS_BIT(DS_MODEL_CONDITIONAL_FORWARD) |                                       \
     DS_BIT(DS_MODEL_CONDITIONAL_BACKWARD) | DS_BIT(DS_MODEL_CONDITIONAL_NOT_TAKEN))
#define QDS_OUTCOMES (DS_BIT(DS_MODEL_BRANCH_TAKEN) | DS_BIT(DS_MODEL_ANY_TAKEN) | QDS_CONDITIONAL_OUTCOMES)

/* Loads and stores, each in as many ways as it counts. A prefetch never happens in QEMU, so it counts with its block.
 */
#define QDS_LOADS  (DS_BIT(DS_MODEL_LOAD) | DS_BIT(DS_MODEL_LOAD_OR_PREFETCH))
#define QDS_STORES DS_BIT(DS_MODEL_STORE)
#define QDS_PREFETCHES                                                                                                 \
    (DS_BIT(DS_MODEL_PREFETCH) | DS_BIT(DS_MODEL_LOAD_OR_PREFETCH) | DS_BIT(DS_MODEL_LOAD_L1_COUNTED))

/*
 * Of these events an instruction causes at most one each. So where a group's instructions are counted, their number is
 * all that a block has to check: it reaches QDS_DUE before any of the others can. It does so early, and then is set
 * anew. That would be all the time for an event that is rare or that happens often enough to be due soon: blocks have
 * checks of their own for those of qds_counting_near().
 */
#define QDS_COVERED_EVENTS                                                                                             \
    ((QDS_BLOCK_EVENTS | QDS_LOADS | QDS_STORES | DS_BIT(DS_MODEL_PREFETCH)) & ~DS_BIT(DS_MODEL_INSTRUCTION) &         \
     ~DS_BIT(DS_MODEL_REFERENCE))
#define QDS_NEAR (1u << 16) /* events that remain */

/* Events that are else added when they happen: at most one of each for an instruction, and amounts (see below). */
#define QDS_MEMORY_EVENTS (DS_BIT(DS_MODEL_EVENTS) - DS_BIT(DS_MODEL_PLAIN_EVENTS)) /* only with a memory system */
#define QDS_ACCESS_EVENTS (QDS_LOADS | QDS_STORES | DS_BIT(DS_MODEL_PREFETCH) | QDS_MEMORY_EVENTS)

/*
 * Amounts: an instruction may cause any number of these, cycles also parts of one. They are added in units. Most
 * instructions cause at most what blocks expect of them, a load's and a store's; not so strings, XSAVE, IRET and
 * VPGATHER. Where one causes more, and a counter would overflow, the rest waits for the next instruction.
 */
#define QDS_AMOUNTS          (DS_MODEL_EVENTS - DS_MODEL_AMOUNTS)
#define QDS_UNITS_OF_A_CYCLE 100u

/*
 * Reference cycles are ticks of the TSC since the last look at it, shared among the rings by the instructions that each
 * has executed since. Blocks add instructions, for that and to say when to look again: before the ticks to the next
 * overflow can be over, by the rate of late. So an overflow comes some instructions late.
 */

struct qds_amounts {
    uint32_t of[QDS_AMOUNTS]; /* by event - DS_MODEL_AMOUNTS, in units */
};

/* Counters are grouped by where they count: two rings' blocks move a counter that counts in both. */
enum qds_group { QDS_RING_0, QDS_OTHER_RINGS, QDS_ALL_RINGS, QDS_GROUPS };

struct qds_numbers {
    uint64_t lead[QDS_GROUPS]; /* instructions << QDS_LEAD_SHIFT, and branches that are not counted below */
    uint64_t of[QDS_GROUPS][DS_MODEL_EVENTS];
};

#define QDS_LEAD_SHIFT 20u
#define QDS_LEAD_MOST  (UINT64_C(1) << (QDS_LEAD_SHIFT - 2)) /* instructions until a lead is due: branches fit then */
/* Leads are negative, and due when they are not: below this, which an instruction of translated code has room for. A
 * block adds less than half of it. */
#define QDS_LEAD_DUE INT32_MAX

/* `packs`: branches are counted in the lead. */
static inline bool qds_numbers_leads(unsigned event, bool packs)
{
    return event == DS_MODEL_INSTRUCTION || (event == DS_MODEL_BRANCH && packs);
}
/* So many events, as an addition to the number that they are counted in. */
static inline uint64_t qds_numbers_addend(unsigned event, uint64_t n)
{
    return event == DS_MODEL_INSTRUCTION ? n << QDS_LEAD_SHIFT : n;
}
static inline uint64_t *qds_numbers_at(struct qds_numbers *now, enum qds_group group, unsigned event, bool packs)
{
    return qds_numbers_leads(event, packs) ? &now->lead[group] : &now->of[group][event];
}
static inline void qds_numbers_add(struct qds_numbers *now, enum qds_group group, unsigned event, bool packs,
                                   uint64_t n)
{
    *qds_numbers_at(now, group, event, packs) += qds_numbers_addend(event, n);
}

struct qds_counting {
    struct qds_numbers *now; /* what blocks add to */
    struct qds_numbers then; /* what it was when the model knew all of it */
    bool forced[QDS_GROUPS];
    uint64_t forced_by[QDS_GROUPS]; /* what that has added to the lead */
    bool chosen;
    uint64_t near[QDS_GROUPS]; /* bits of enum ds_model_event: blocks check them for this vCPU */
    bool referring;            /* some number is of reference cycles */
    int64_t early[QDS_GROUPS]; /* so many instructions before one is due the number of instructions says so */
    uint64_t counting[2][DS_MODEL_EVENTS]; /* the model's, when the numbers were chosen by it */
    unsigned moving;                       /* numbers that move counters; the others say nothing */
    struct qds_number {
        uint8_t group, event;
        uint64_t counters; /* that it moves */
        uint64_t held;     /* an amount's: units that the counters have not been moved by yet */
    } number[QDS_GROUPS * DS_MODEL_EVENTS];
    uint64_t (*tsc)(void); /* NULL: none counts reference cycles */
    uint64_t looked;       /* at the TSC, and it was this */
    uint64_t rate;         /* instructions in QDS_RATE_TICKS of late */
    bool always;           /* set it before the first arm: QDS_ALL_RINGS' instructions are, whether a counter counts */
    uint64_t instructions; /* them or not: so many */
};

#define QDS_RATE_TICKS 1024u

/* The vCPU halts, or stands still otherwise (sync first), or goes on: what passes between is no reference cycles. */
void qds_counting_goes_on(struct qds_counting *counting);

/* Moves the model's counters by what has been added. */
void qds_counting_sync(struct qds_counting *counting, struct ds_model *model);

/* Sets the numbers anew by how far the model's counters are from what it must see. Sync first. */
void qds_counting_arm(struct qds_counting *counting, const struct ds_model *model);

/* Whether a block of the ring (0: CPL 0, 1: others) with so many `events` reaches one that the model must see; of these
 * only `mask`, bits of enum ds_model_event, are looked at. */
bool qds_counting_due(const struct qds_counting *counting, unsigned ring, const uint32_t *events, uint64_t mask);

/* So many instructions of the ring, with at most one of each event that counts, reach none that the model must see. */
uint64_t qds_counting_spare(const struct qds_counting *counting, unsigned ring);

/* An instruction of the ring has caused amounts and goes through the model: sets by how much it moves each of the
 * counters that count one of `mask` (ds_model_retired.by). Returns which of these events are to go through. Sync first.
 */
uint64_t qds_counting_amounts(struct qds_counting *counting, unsigned ring, const struct qds_amounts *amounts,
                              uint64_t mask, uint32_t by[DS_MODEL_COUNTERS]);
/* It has not retired and does not: what it has caused nevertheless waits for the next one. */
void qds_counting_hold(struct qds_counting *counting, unsigned ring, const struct qds_amounts *amounts);

/* Makes the leads due for all blocks of the ring. Until the next arm, which must come when they are full. */
void qds_counting_force(struct qds_counting *counting, unsigned ring);
bool qds_counting_full(const struct qds_counting *counting);

/* Which of QDS_COVERED_EVENTS blocks shall check for the model, as bits of enum ds_model_event. */
uint64_t qds_counting_near(const struct ds_model *model, enum qds_group group);

/* Whether a counter counts reference cycles. */
bool qds_counting_refers(const struct ds_model *model);

/* Which events counters of the group count, as bits of enum ds_model_event. */
uint64_t qds_counting_wanted(const struct ds_model *model, enum qds_group group);
