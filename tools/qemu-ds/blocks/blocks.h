/* SPDX-License-Identifier: MIT */
/*
 * What the plugin adds to translated blocks; run/ says what happens there.
 *
 * While nothing counts, only CPUID, RDMSR, WRMSR and RDPMC get callbacks. While something counts, each block adds the
 * number of its events (counting.h) before it runs. If that reaches an event that the model must see, the block does
 * not run, takes its events back and is restarted with RFLAGS.RF set. QEMU translates such code separately, and there
 * each instruction can call back. The plugin counts up to the one that the model must see. That goes through the model
 * after it has run, and the block goes on. If that has raised an interrupt, the rest of the block is started as a new
 * block instead: at the start of a block all of a vCPU's state is in memory (registers, lazy flags, RIP), so an
 * interrupt can be taken right there.
 *
 * If branches must be stored or counted as taken, they are the last instructions of their blocks. They go through the
 * model at the start of the next block, and all other instructions are counted as before. If they must only be
 * remembered, each block notes where the branch of the one before it has led; the model gets the newest of these before
 * it is read or changed.
 */
#pragma once

#include "tools/qemu-ds/vcpu/vcpu.h"

/* The plugin's callbacks. */
void qds_blocks_register(qemu_plugin_id_t id);

/* The vCPU runs on the calling thread. False: so does another one. */
bool qds_blocks_thread(struct qds_vcpu *v);
