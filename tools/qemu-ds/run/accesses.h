/* SPDX-License-Identifier: MIT */
/*
 * Between QEMU's accesses of memory and the modelled memory system (memory_system.h), with `memory=model`. Every access
 * of every vCPU goes through it from the first instruction on, whether something counts or not: what is in a cache does
 * not depend on when somebody begins to look.
 */
#pragma once

#include "tools/qemu-ds/modelled/memory_system.h"
#include "tools/qemu-ds/vcpu/vcpu.h"

/* At the plugin's start: memory=model, which costs.h knows of. */
void qds_accesses_begin(const struct qds_memory_config *config, unsigned vcpus);

enum qds_accesses { QDS_ACCESSES_PASS, QDS_ACCESSES_COUNT, QDS_ACCESSES_STEP }; /* STEP: in a block with RF */
/* Places the callbacks for what the instruction accesses. */
void qds_accesses_plant(struct qemu_plugin_insn *to, struct qds_block_insn *insn, enum qds_accesses how);

/* The vCPU is reset: addresses lie elsewhere now. All stand still. */
void qds_accesses_reset(unsigned vcpu);
/* CPUID.02H and CPUID.04H of a vCPU. */
void qds_accesses_cpuid(unsigned vcpu, uint32_t leaf, uint32_t subleaf, uint32_t out[4]);

/* One line of a vCPU's totals, to stderr. */
void qds_accesses_print(unsigned vcpu);
