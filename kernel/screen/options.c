/* SPDX-License-Identifier: MIT */
/* The screen's option. */
#include "kernel/screen/display.h"

#include "kernel/options/row.h"

uint32_t kscreen_on;

static const struct kopt_option on = {
    .name = "screen",
    .standard = "on",
    .text = "on: also show text on the screen, if the firmware provides a framebuffer; off: leave the screen as it is",
    .field = &kscreen_on,
    .kind = WORD,
    .words = "off|on"};
ROWS_ADD(kopt, on);
