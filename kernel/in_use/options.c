/* SPDX-License-Identifier: MIT */
/* The option ds.force. */
#include "kernel/in_use/in_use.h"

#include "kernel/options/row.h"

uint32_t kin_use_force;

static const struct kopt_option force = {.name = "ds.force",
                                         .standard = "0",
                                         .text =
                                             "1: with a warning, take over counters, a DS area and PEBS that something "
                                             "else (perhaps firmware) uses; 0: report them and leave them alone",
                                         .field = &kin_use_force,
                                         .kind = NUMBER32,
                                         .max = 1,
                                         .needs = "ds=auto|hw"};
ROWS_ADD(kopt, force);
