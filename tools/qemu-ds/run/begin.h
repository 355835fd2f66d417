/* SPDX-License-Identifier: MIT */
/* A vCPU begins: QEMU has made it, or the machine is reset. */
#pragma once

#include "tools/qemu-ds/vcpu/vcpu.h"

/* On the vCPU's thread; `index` below QDS_VCPUS. False: QEMU lacks a register we need. */
bool qds_begin(unsigned index, const struct ds_model_preset *preset, const struct ds_model_policy *policy);

/* The machine is reset: as after qds_begin, but for totals. All vCPUs stand still. */
void qds_begin_anew(struct qds_vcpu *v);
