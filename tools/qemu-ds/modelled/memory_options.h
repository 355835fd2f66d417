/* SPDX-License-Identifier: MIT */
/* Sizes and latencies of the modelled memory system: the usual ones of each preset, and options that change them. */
#pragma once

#include <stddef.h>

#include "tools/qemu-ds/counting/counting.h"
#include "tools/qemu-ds/modelled/memory_system.h"

/* The usual values. False: there are none for this preset. */
bool qds_memory_preset(const struct ds_model_preset *preset, unsigned efficient, struct qds_memory_config *config);

/* Sets what `memory.NAME=VALUE` says; `name` is what follows the dot. 0, or -EINVAL with one line in `why`. */
int qds_memory_option(struct qds_memory_config *config, const char *name, char *why, size_t size);

/* `cpi=N`, with up to two places after a point: in units. 0: it is not such a number. */
unsigned qds_memory_cpi(const char *value);

/* CPUID.02H and CPUID.04H: the caches, as a core of the kind (0, 1) sees them. They are in leaf 4 alone. */
void qds_memory_cpuid(const struct qds_memory_config *config, unsigned kind, unsigned cores, uint32_t leaf,
                      uint32_t subleaf, uint32_t out[4]);

/* The caches in one line. */
void qds_memory_describe(const struct qds_memory_config *config, char *to, size_t size);
