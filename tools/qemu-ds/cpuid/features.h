/* SPDX-License-Identifier: MIT */
/* What CPUID must not say of a preset's processor: `-cpu max` has features of every processor, some of AMD's among
 * them. Guests that go by CPUID then do what they do on that processor. The instructions are still there, and bits of
 * CR4 can still be set: only QEMU's own -cpu takes them away. */
#pragma once

#include <stdbool.h>

#include "ds/model/model.h"

/* Whether qds_features_mask() may change this leaf. */
bool qds_features_in(uint32_t leaf, uint32_t subleaf);

/* Takes from EAX, EBX, ECX, EDX of the leaf what the processor does not have. It adds nothing. */
void qds_features_mask(const struct ds_model_preset *preset, uint32_t leaf, uint32_t subleaf, uint32_t out[4]);
