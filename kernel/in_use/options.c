/* SPDX-License-Identifier: MIT */
/* The option ds.force. */
#include "kernel/in_use/in_use.h"

#include "kernel/options/row.h"

uint32_t kin_use_force;

static const struct kopt_option force = {
    .name = "ds.force",
    .standard = "0",
    .text = "1: take over counters, a DS area and PEBS that something else, perhaps firmware, uses, with a warning; "
            "0: report them and do not touch them",
    .field = &kin_use_force,
    .kind = NUMBER32,
    .max = 1,
    .needs = "ds=auto|hw"};
ROWS_ADD(kopt, force);
