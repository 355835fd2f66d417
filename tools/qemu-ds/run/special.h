/* SPDX-License-Identifier: MIT */
/*
 * The instructions that the plugin acts on: INT3 (see qds_run_int3), and those that access the Debug Store: CPUID,
 * RDMSR, WRMSR, RDPMC. CPUID, RDMSR and WRMSR run in QEMU as well, which knows the rest of the processor. The plugin
 * changes their results after they have run, at the next instruction. If the model refuses one, the plugin changes the
 * MSR number to one that QEMU refuses, so that it raises #GP. RDPMC does not run: QEMU does not have it, and raises
 * #UD, or #GP if privilege level and CR4.PCE forbid it.
 */
#pragma once

#include "tools/qemu-ds/vcpu/vcpu.h"

enum qds_special {
    QDS_SPECIAL_NONE,
    QDS_SPECIAL_INT3,
    QDS_SPECIAL_CPUID,
    QDS_SPECIAL_RDMSR,
    QDS_SPECIAL_WRMSR,
    QDS_SPECIAL_RDPMC
};

#define QDS_INT3 0xCC

/* Which of them the instruction is. */
enum qds_special qds_special(const uint8_t *code, size_t length);
/* Whether code that ends before `code + 2` may end with one whose result is to be changed. */
bool qds_special_before(const uint8_t code[2]);

/* Callbacks, before the instruction runs. The model's counters are right for this moment. */
void qds_cpuid(struct qds_vcpu *v);
void qds_rdmsr(struct qds_vcpu *v);
/* Whether the WRMSR that is about to run is for the model, and what it writes. If so and the model refuses it, it will
 * fault: *fault. The model has not changed: *after is what it will be. */
bool qds_wrmsr(struct qds_vcpu *v, uint32_t *msr, uint64_t *value, bool *fault, struct ds_model *after);

/* What RDPMC returns. 0; -EFAULT: #GP, for its index; -EPERM: #GP, which QEMU will raise. */
int qds_rdpmc(struct qds_vcpu *v, uint64_t *value);
/* The result of RDMSR or RDPMC, into EDX:EAX. */
void qds_return(struct qds_vcpu *v, uint64_t value);

/* On whatever follows one that has run, v->patch.kind. */
void qds_patch(struct qds_vcpu *v);
/* An exception: undoes what made one fault. */
void qds_special_faulted(struct qds_vcpu *v);
