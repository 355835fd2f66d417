/* SPDX-License-Identifier: MIT */
/* Which events a retired instruction is for the processor's counters (ds/model), from its decoding and from where it
 * led. */
#pragma once

#include "ds/model/model.h"
#include "ds/soft/insn.h"

/* Events that the instruction causes whenever it retires, without those of what it reads and writes and of where a
 * branch leads. */
uint64_t ds_retired_events(const struct ds_insn *insn);

/* What a branch is for branch history. */
enum ds_model_branch_type ds_retired_branch_type(const struct ds_insn *insn);

/* The instruction at `ip` ran and execution stands at `next`; the registers are those after it. False: it did not
 * retire: it faulted, and whoever handled that went on elsewhere (where an indirect branch leads nobody knows). Else
 * fills `retired`, and `branch`, which it points to where the branch was taken; the rest of both, privilege levels
 * among it, is 0. */
bool ds_retired(struct ds_model_retired *retired, struct ds_model_branch *branch, const struct ds_insn *insn,
                uint64_t ip, uint64_t next, uint64_t rflags, uint64_t rcx);
