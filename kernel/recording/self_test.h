/* SPDX-License-Identifier: MIT */
/* Before the run: does PEBS make records of instructions here? */
#pragma once

#include "ds/ds.h"

/* Tries it on every CPU that does `config`, by each[] and caps[] (rows are added), where it samples instructions.
 * Where PEBS makes no record of them INST_RETIRED.PREC_DIST takes their place in config and later[], if it does.
 * `said`: "", or what has become of it in a sentence that begins with "; ". 0, or -ENOMEM. All CPUs run, nothing is
 * recorded; thread context. */
int kself_test(struct ds_caps *caps, const struct ds_config *const *each, struct ds_config *config, uint64_t *later,
               char *said, size_t size);
