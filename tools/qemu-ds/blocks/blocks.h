/* SPDX-License-Identifier: MIT */
/*
 * What the plugin adds to translated blocks; run/ says what happens there.
 *
 * While nothing counts, only CPUID, RDMSR, WRMSR and RDPMC get callbacks. While something counts, each block adds the
 * number of its events (counting.h) before it runs. If that would reach an event that the model must see, the block
 * does not run but is restarted with RFLAGS.RF set. QEMU translates such code separately, with a callback for each
 * instruction; the instruction that the model must see goes through the model after it has run. Then the rest of the
 * block is started as a new block. At the start of a block all of a vCPU's state is in memory (registers, lazy flags,
 * RIP), so an interrupt can be taken right there.
 *
 * If branches must be stored or counted as taken, they are the last instructions of their blocks. They go through the
 * model at the start of the next block, and all other instructions are counted as before. If they must only be
 * remembered, each block notes where the branch of the one before it has led; the model gets the newest of these before
 * it is read or changed.
 */
#pragma once

#include "tools/qemu-ds/vcpu/vcpu.h"

/* The plugin's callbacks; `board`: of struct qds_board. */
void qds_blocks_register(qemu_plugin_id_t id, struct qemu_plugin_scoreboard *board);

/* The vCPU runs on the calling thread. False: so does another one. */
bool qds_blocks_thread(struct qds_vcpu *v);
