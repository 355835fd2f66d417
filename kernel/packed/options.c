/* SPDX-License-Identifier: MIT */
/* The option of packed frames. */
#include "kernel/packed/packed.h"

#include "kernel/options/row.h"

uint32_t kpacked_on;

static const struct kopt_option on = {.name = "dump.pack",
                                      .standard = "1",
                                      .text = "1: pack trace and truth, usually to less than half of their characters "
                                              "(docs/reference/format.md, section 17); 0: do not",
                                      .field = &kpacked_on,
                                      .kind = NUMBER32,
                                      .max = 1};
ROWS_ADD(kopt, on);
