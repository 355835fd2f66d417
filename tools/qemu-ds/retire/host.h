/* SPDX-License-Identifier: MIT */
/* What the model of a vCPU asks its host for, and tells it. */
#pragma once

#include "tools/qemu-ds/vcpu/vcpu.h"

struct ds_model_host qds_host(struct qds_vcpu *v);
