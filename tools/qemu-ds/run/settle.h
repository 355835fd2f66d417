/* SPDX-License-Identifier: MIT */
/* What a callback leaves unfinished and a later one settles: counts and branches that the model has not got yet, and an
 * instruction that has begun. */
#pragma once

#include "tools/qemu-ds/vcpu/vcpu.h"

/* The model gets what blocks have counted and noted. */
void qds_settle_sync(struct qds_vcpu *v);
/* The model, or what is unfinished, has changed: sets when blocks are due. Sync first. */
void qds_settle_arm(struct qds_vcpu *v);
/* Execution stands at `rip`, between two instructions. */
void qds_settle(struct qds_vcpu *v, uint64_t rip);
/* The instruction of v->step has not retired, and has accessed memory nevertheless. */
void qds_settle_hold(struct qds_vcpu *v);

/* Whether some branches are wanted for branch history alone, so that they are noted and do not go through the model. */
static inline bool qds_settle_notes(const struct qds_vcpu *v)
{
    return v->noted[0] | v->noted[1];
}
/* The last block has run, and its last instruction has led to `rip` and privilege level `cpl`: notes that as a branch
 * if it is one and was taken. */
void qds_settle_note(struct qds_vcpu *v, uint64_t rip, unsigned cpl);
/* The block has been left before its end. */
void qds_settle_forget(struct qds_vcpu *v, const struct qds_block *b);
