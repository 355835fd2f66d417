/* SPDX-License-Identifier: MIT */
/* Tests before the run whether PEBS makes records of instructions. */
#pragma once

#include "ds/ds.h"

/* If `config` samples instructions, tests this on every CPU that uses it, by each[] and caps[] (rows are added). Where
 * PEBS makes no record of them, or does not count them, INST_RETIRED.PREC_DIST takes their place in config and later[],
 * if PEBS records that on all these CPUs. `said`: "", or the result in a sentence that begins with "; ". 0, or -ENOMEM.
 * All CPUs run, nothing is recorded; thread context. */
int kself_test(struct ds_caps *caps, const struct ds_config *const *each, struct ds_config *config, uint64_t *later,
               char *said, size_t size);
