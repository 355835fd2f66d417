/* SPDX-License-Identifier: MIT */
/* What the model is told of: an instruction that has gone through it, an interrupt or exception. */
#pragma once

#include "tools/qemu-ds/vcpu/vcpu.h"

/* An interrupt or exception led from v->entered to `to`. */
void qds_enter(struct qds_vcpu *v, uint64_t to);

/* The instruction of v->step has retired and execution stands at `next`. False: it did not, and nothing was done. */
bool qds_retire_step(struct qds_vcpu *v, uint64_t next);
