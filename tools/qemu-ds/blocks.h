/* SPDX-License-Identifier: MIT */
/*
 * Translated blocks: what is planted into them, and what happens there.
 *
 * Idle, only CPUID, RDMSR and WRMSR are looked at. While something counts, each block adds what it is worth
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

#include "tools/qemu-ds/vcpu.h"

struct qds_instruments { /* what blocks are translated with */
    unsigned wanted[QDS_GROUPS]; /* bits of enum ds_model_event that are counted for a group of counters */
};

/* What a model asks of the blocks. */
struct qds_instruments qds_blocks_need(const struct ds_model *model);
static inline bool qds_blocks_idle(const struct qds_instruments *i)
{
    return !(i->wanted[QDS_RING_0] | i->wanted[QDS_OTHER_RINGS] | i->wanted[QDS_ALL_RINGS]);
}

/* What new blocks get. */
void qds_blocks_set(const struct qds_instruments *instruments);
/* The plugin's callbacks; `board`: of struct qds_board. */
void qds_blocks_register(qemu_plugin_id_t id, struct qemu_plugin_scoreboard *board);

/* The vCPU runs on the calling thread. False: so does another one. */
bool qds_blocks_thread(struct qds_vcpu *v);

/* The model of the vCPU asks for other instruments than before. */
extern void (*qds_blocks_changed)(struct qds_vcpu *v);
/* An interrupt is taken: now and then a good moment to see whether nothing counts any more. */
extern void (*qds_blocks_interrupted)(void);
/* Records will have no arithmetic flags. */
extern void (*qds_blocks_flags_unknown)(void);
