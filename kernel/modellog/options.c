/* SPDX-License-Identifier: MIT */
/* The option of the model's log. */
#include "kernel/modellog/modellog.h"

#include "kernel/options/row.h"

uint32_t kmodellog_on;

static const struct kopt_option on = {.name = "ds.log",
                                      .standard = "0",
                                      .text =
                                          "1: the soft backend's model logs each of its steps, for 'cairn ds --life'",
                                      .field = &kmodellog_on,
                                      .kind = NUMBER32,
                                      .max = 1,
                                      .needs = "ds=auto|soft,pebs!=none"};
ROWS_ADD(kopt, on);
