/* SPDX-License-Identifier: MIT */
/* Processors made of presets, for hosts that have them. */
#pragma once

#include "ds/model/model.h"

/* The efficient core beside the performance core `of`. False: `of` is not of a hybrid. */
bool ds_model_efficient(const struct ds_model_preset *of, struct ds_model_preset *core);

/* Makes of a processor what a guest of Linux' KVM sees of it: no baseline, no BTS, the MSRs that KVM refuses raise #GP,
 * CPUID names KVM. From format 4 on it has PEBS; before, no Debug Store. IA32_MISC_ENABLE is as QEMU sets it up, which
 * says neither that performance monitoring is on nor that BTS is not there. 0; -ENODEV: a hybrid, of which KVM gives no
 * counters. */
int ds_model_kvm_guest(struct ds_model_preset *preset);
