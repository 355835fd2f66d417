/* SPDX-License-Identifier: MIT */
/* The option end.hold=. */
#include "kernel/power/power.h"

#include "kernel/options/row.h"

uint32_t kpower_hold;

static const struct kopt_option hold = {
    .name = "end.hold",
    .standard = "30",
    .text = "seconds that a screen keeps its last picture, to be photographed, before the machine restarts or switches "
            "off; without the option at most 3 in a virtual machine",
    .field = &kpower_hold,
    .kind = NUMBER32,
    .min = 0,
    .max = 3600,
    .needs = "end=reboot|poweroff"};
ROWS_ADD(kopt, hold);
