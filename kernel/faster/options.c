/* SPDX-License-Identifier: MIT */
/* The option of the faster line. */
#include "kernel/faster/faster.h"

#include "kernel/lib/line_rate.h"
#include "kernel/options/row.h"

uint32_t kfaster_most;

static const struct kopt_option most = {
    .name = "serial.fast",
    .standard = "0",
    .text = "highest rate in baud that the kernel may agree on with 'cairn capture', such as 921600; without an "
            "answer, or if the test fails, the rate of serial= stays; 0: do not ask",
    .field = &kfaster_most,
    .kind = NUMBER32,
    .max = LINE_RATE_MOST,
    .needs = "serial!=none"};
ROWS_ADD(kopt, most);
