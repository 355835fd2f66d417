/* SPDX-License-Identifier: MIT */
/* What happens in translated blocks: QEMU's callbacks, on the vCPU's thread. blocks/ places them; `userdata` is the
 * block or the instruction where they are. */
#pragma once

#include "tools/qemu-ds/vcpu/vcpu.h"

/* ---- blocks that count ------------------------------------------------------------------------------------------- */

/* One may reach an event the model must see, or something is to be settled. */
void qds_run_due(unsigned vcpu, void *userdata);
/* One begins, after the checks of qds_run_due, and has been led to. */
void qds_run_noting(unsigned vcpu, void *userdata);
/* One begins with a REP string instruction. */
void qds_run_repeats(unsigned vcpu, void *userdata);
/* One begins that may resume another; the same, where that is an access of a device: QEMU calls nothing else. */
void qds_run_resumes(unsigned vcpu, void *userdata);
void qds_run_alone_accesses(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata);
bool qds_run_may_resume(const struct qds_block *block);
/* The instruction reads, writes data. */
void qds_run_loads(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata);
void qds_run_stores(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata);

/* ---- blocks with RFLAGS.RF --------------------------------------------------------------------------------------- */

/* One begins; the next of its instructions; it reads or writes data. */
void qds_run_steps(unsigned vcpu, void *userdata);
void qds_run_insn_steps(unsigned vcpu, void *userdata);
void qds_run_access_steps(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata);

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* The instruction runs next. */
void qds_run_int3(unsigned vcpu, void *userdata);
void qds_run_cpuid(unsigned vcpu, void *userdata);
void qds_run_rdmsr(unsigned vcpu, void *userdata);
void qds_run_wrmsr(unsigned vcpu, void *userdata);
void qds_run_rdpmc(unsigned vcpu, void *userdata);
/* CPUID or RDMSR has run, and its results are to be others. */
void qds_run_patch(unsigned vcpu, void *userdata);
/* QEMU has stopped the vCPU between two blocks, at `rip`: the model gets all that has run. The vCPU may go on, or go on
 * elsewhere from what it and its model are now. */
void qds_run_stands(struct qds_vcpu *v, uint64_t rip);
/* There: its model and what is unfinished have been set. */
void qds_run_loaded(struct qds_vcpu *v);
/* The vCPU halts or is stopped; it goes on. */
void qds_run_stops(unsigned vcpu, void *userdata);
void qds_run_goes_on(unsigned vcpu, void *userdata);
/* Exceptions and interrupts. */
void qds_run_discontinuity(unsigned vcpu, enum qemu_plugin_discon_type type, uint64_t from, uint64_t to,
                           void *userdata);
