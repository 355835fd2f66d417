/* SPDX-License-Identifier: MIT */
/* Tests before the run whether PEBS makes records of instructions. */
#pragma once

#include "ds/trial/trial.h"

/* If `config` samples instructions, tests this on every CPU that uses it, by each[] and caps[] (rows are added).
 * `said`: "", or the result in a sentence that begins with "; ": PEBS makes no record of them on some CPU, or does not
 * count them. 0, or -ENOMEM. All CPUs run, nothing is recorded; thread context. */
int kself_test(struct ds_caps *caps, const struct ds_config *const *each, const struct ds_config *config, char *said,
               size_t size);
