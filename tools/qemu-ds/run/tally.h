/* SPDX-License-Identifier: MIT */
/* What blocks have counted, and how it is corrected where an instruction of theirs has not retired. */
#pragma once

#include "tools/qemu-ds/vcpu/vcpu.h"

/* Whether a block adds its events of this kind to those of the group. */
static inline bool qds_tally_counts(const struct qds_block *b, enum qds_group group, unsigned event)
{
    return (group == QDS_ALL_RINGS || group == b->ring) && b->wanted[group] >> event & 1 && b->events[event];
}

/* Events that a block counts at all. */
static inline uint64_t qds_tally_wanted(const struct qds_block *b)
{
    return b->wanted[b->ring] | b->wanted[QDS_ALL_RINGS];
}

/* An access of the instruction, perhaps not its first, with what a memory system says of it. NULL: in a block with RF,
 * where it is the one that has begun. */
struct qds_accessed {
    bool store;
    uint64_t events; /* bits of enum ds_model_event, no amounts */
    uint64_t address;
    struct ds_model_access said;
    struct qds_amounts amounts;
};
void qds_tally_accessed(struct qds_vcpu *v, const struct qds_block_insn *insn, const struct qds_accessed *accessed);
/* The same in a block without RF, where there are no amounts. */
void qds_tally_hits(struct qds_vcpu *v, const struct qds_block_insn *insn, bool store, uint64_t events);

/* Counts instructions of a block once more, or (`sign` UINT64_MAX) once less, then with what they have accessed.
 * Amounts of accesses stay. */
void qds_tally_some(struct qds_vcpu *v, const struct qds_block_insn *from, const struct qds_block_insn *to,
                    uint64_t sign);

/* What was counted last: the block of the board, or some instructions of one. Whether that has the instruction. */
bool qds_tally_has(const struct qds_vcpu *v, const struct qds_block_insn *i);
/* The one at a physical address; NULL: it is not in there. All of a block's instructions begin in one page. */
const struct qds_block_insn *qds_tally_at(const struct qds_vcpu *v, uint64_t physical);
/* As qds_tally_some(), for an instruction in there and all behind it. */
void qds_tally_from(struct qds_vcpu *v, const struct qds_block_insn *i, uint64_t sign);
/* These have been counted and have not retired. */
void qds_tally_undo(struct qds_vcpu *v, const struct qds_block_insn *i);
/* Execution stands at a physical address again. If a REP string instruction there ended the last block, it has not
 * retired: QEMU does a part of its iterations, with RFLAGS.RF set in between, or an interrupt came. It will be counted
 * anew. */
void qds_tally_repeats(struct qds_vcpu *v, uint64_t physical);
