/* SPDX-License-Identifier: MIT */
/* The option ds.throttle. */
#include "kernel/throttle/throttle.h"

#include "kernel/options/row.h"

uint32_t kthrottle_limit;

static const struct kopt_option throttle = {
    .name = "ds.throttle",
    .standard = "0",
    .text = "after this many PMIs in one timer tick, a CPU stops counters and branch tracing for at least a tick; 0: "
            "100 on hw, no limit on soft, which cannot hang",
    .field = &kthrottle_limit,
    .kind = NUMBER32,
    .max = 100000,
    .needs = "ds!=off"};
ROWS_ADD(kopt, throttle);
