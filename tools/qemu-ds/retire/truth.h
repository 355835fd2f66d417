/* SPDX-License-Identifier: MIT */
/*
 * Writes what the plugin did, line by line, for comparison with what the guest found: docs/reference/qemu-ds.md, "The
 * truth". Without truth=FILE it writes nothing. Call it on the vCPU's thread, after its counts are up to date: all
 * instructions, as of QDS_ALL_RINGS.
 */
#pragma once

#include "tools/qemu-ds/vcpu/vcpu.h"

/* `counts`: lines have the number of instructions; else 0. False: FILE cannot be written. */
bool qds_truth_open(const char *file, const char *preset, int vcpus, bool counts);
/* The totals. What comes later is not written. False: not all of it could be written. */
bool qds_truth_close(void);
/* Whether vCPUs count all instructions for it. */
bool qds_truth_counts(void);
/* A PEBS record, which lies in memory already. */
void qds_truth_record(struct qds_vcpu *v, const struct ds_model_record *record);
/* A branch record. */
void qds_truth_branch(struct qds_vcpu *v, const struct ds_model_branch *branch, bool stored);
void qds_truth_pmi(struct qds_vcpu *v, uint32_t lvtpc);
/* It runs now: it has been counted, or (`uncounted`) has not. */
void qds_truth_wrmsr(struct qds_vcpu *v, uint32_t msr, uint64_t value, bool fault, bool uncounted);
/* A record was lost: the DS area is not mapped. */
void qds_truth_lost(struct qds_vcpu *v);
