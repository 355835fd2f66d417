/* SPDX-License-Identifier: MIT */
/* What the plugin did, line by line, for comparison with what the guest has found. Nothing without truth=FILE. */
#pragma once

#include "tools/qemu-ds/vcpu.h"

/* False: FILE cannot be written. */
bool qds_truth_open(const char *file);
void qds_truth_close(void);
void qds_truth_record(struct qds_vcpu *v, const struct ds_model_record *record);
void qds_truth_pmi(struct qds_vcpu *v, uint32_t lvtpc);
void qds_truth_wrmsr(struct qds_vcpu *v, uint32_t msr, uint64_t value, bool fault);
/* A record was lost: the DS area is not mapped. */
void qds_truth_lost(struct qds_vcpu *v);
