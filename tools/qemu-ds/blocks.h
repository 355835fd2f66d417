/* SPDX-License-Identifier: MIT */
/*
 * Translated blocks: what is planted into them. What happens there: run.h.
 *
 * Idle, only CPUID, RDMSR, WRMSR and RDPMC are looked at. While something counts, each block adds what it is worth
 * (counting.h) before it runs. Where that would reach an event that the model must see, the block does not run: it is
 * begun anew with RFLAGS.RF set. QEMU translates such code separately, and there each instruction is looked at; the
 * one that the model must see goes through it when it has run. Then the block is left and its rest begun anew: at the
 * start of a block a vCPU's state is all in memory, registers, lazy flags, RIP, so that an interrupt can be taken
 * right there.
 *
 * Branches that are to be remembered or stored are the last instructions of their blocks: these go through the model,
 * at the start of the next, and all others are counted as before.
 */
#pragma once

#include "tools/qemu-ds/need.h"

/* What new blocks get. */
void qds_blocks_set(const struct qds_instruments *instruments);
/* Whether they add anything to anything: for counters of any vCPU's, or for truth=. */
bool qds_blocks_counting(void);
/* Whether a block adds its events of this kind to those of the group. */
bool qds_blocks_counts(const struct qds_block *block, enum qds_group group, unsigned event);
/* The plugin's callbacks; `board`: of struct qds_board. */
void qds_blocks_register(qemu_plugin_id_t id, struct qemu_plugin_scoreboard *board);

/* The vCPU runs on the calling thread. False: so does another one. */
bool qds_blocks_thread(struct qds_vcpu *v);
