/* SPDX-License-Identifier: MIT */
/* The option of the truth. */
#include "kernel/truth/truth.h"

#include "kernel/options/row.h"

uint32_t ktruth_wanted;

static const struct kopt_option truth = {
    .name = "truth",
    .standard = "0",
    .text = "1: also record what really happened, apart from the trace, for 'cairn check'",
    .field = &ktruth_wanted,
    .kind = NUMBER32,
    .max = 1};
ROWS_ADD(kopt, truth);
