/* SPDX-License-Identifier: MIT */
/*
 * Between QEMU's accesses of memory and the modelled memory system (memory_system.h), with `memory=model`. Every access
 * of every vCPU goes through it from the first instruction on, whether something counts or not: what is in a cache does
 * not depend on when somebody begins to look.
 */
#pragma once

#include "tools/qemu-ds/modelled/memory_system.h"
#include "tools/qemu-ds/vcpu.h"

/* At the plugin's start: memory=model. */
void qds_accesses_begin(const struct qds_memory_config *config, const struct ds_model_preset *preset, unsigned vcpus);
bool qds_accesses_modelled(void);
/* Units of an instruction; with a memory system. */
unsigned qds_accesses_cpi(void);
/* Slots that the instruction's own cycles lose to the back end: DS_MODEL_BACKEND. */
uint32_t qds_accesses_backend(const struct ds_insn *insn);

/* How many of each of enum ds_model_event the instruction can cause, but for what counting.h says; cycles in units. */
const uint32_t *qds_accesses_most(const struct qds_block_insn *insn);

enum qds_accesses { QDS_ACCESSES_PASS, QDS_ACCESSES_COUNT, QDS_ACCESSES_STEP }; /* STEP: in a block with RF */
/* Places the callbacks for what the instruction accesses. */
void qds_accesses_plant(struct qemu_plugin_insn *to, struct qds_block_insn *insn, enum qds_accesses how);

/* The vCPU is reset: addresses lie elsewhere now. All stand still. */
void qds_accesses_reset(unsigned vcpu);
/* CPUID.02H and CPUID.04H of a vCPU. */
void qds_accesses_cpuid(unsigned vcpu, uint32_t leaf, uint32_t subleaf, uint32_t out[4]);

/* One line of a vCPU's totals, to stderr. */
void qds_accesses_print(unsigned vcpu);
