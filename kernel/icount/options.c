/* SPDX-License-Identifier: MIT */
/* The option tsc.align=. */
#include "kernel/icount/icount.h"

#include "kernel/options/row.h"

uint32_t kicount_align;

static const struct kopt_option align = {.name = "tsc.align",
                                         .standard = "0",
                                         .text = "wait at the start until the TSC is a multiple of 2^N, for equal runs "
                                                 "with QEMU's -icount; idle CPUs then do not halt",
                                         .field = &kicount_align,
                                         .kind = NUMBER32,
                                         .max = 40};
ROWS_ADD(kopt, align);
