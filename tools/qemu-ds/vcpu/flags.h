/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic flags, which plugins cannot read: QEMU computes them lazily from an operation's operands. At the start
 * of a block all of that is in memory, and QEMU's own helper_read_eflags() computes them. This works if the binary
 * exports that function (Debian's does) and the host is x86-64, where generated code keeps the pointer to QEMU's CPU
 * state in RBP. The plugin verifies this pointer by the registers that it finds there. The same state says whether code
 * runs in 64-bit mode, which plugins cannot read either.
 */
#pragma once

#include "tools/qemu-ds/vcpu/vcpu.h"

/* At the plugin's start. `exact`: refuses to run where this QEMU does not export what is needed, now, or where a vCPU's
 * state is not found, later. */
void qds_flags_begin(bool exact);
/* Sets v->env where it can be found. `frame`: of the callback, which QEMU's generated code has called. */
void qds_flags_look_for_env(struct qds_vcpu *v, void *const *frame);
/* RFLAGS, without RF, at the start of a block, after qds_flags_restore(), or where v->passing says. Without arithmetic
 * flags and DF where v->env is not known. */
uint64_t qds_flags(struct qds_vcpu *v);
/* In a callback in the middle of a block, whose return address is `at`: brings the vCPU's state to that instruction,
 * lazy flags included. The block must be left then. False: not possible here. */
bool qds_flags_restore(struct qds_vcpu *v, void *at);
/* The same, and the instruction runs in a block of its own, which makes no callbacks but for memory. It must not be a
 * REP string instruction, and v->env must be known. */
__attribute__((noreturn)) void qds_flags_run_alone(struct qds_vcpu *v, void *at);
/* The same, and the instruction faults: #GP(0). Returns where that is not possible. */
void qds_flags_raise_gp(struct qds_vcpu *v, void *at);
/* Whether the code that runs now is not in 64-bit mode: CS.L is 0. False where that is not known. */
bool qds_compatibility(const struct qds_vcpu *v);
/* The vCPU's TSC; 0: unknown. */
uint64_t qds_tsc(struct qds_vcpu *v);
