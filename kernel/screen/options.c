/* SPDX-License-Identifier: MIT */
/* The screen's option. */
#include "kernel/screen/options.h"

#include "kernel/options/row.h"

struct kscreen_options kscreen_options;

static const struct kopt_option on = {
    .name = "screen",
    .standard = "on",
    .text = "on: show text on the screen as well, if the firmware provides a framebuffer; off: leave the screen as the "
            "loader left it",
    .field = &kscreen_options.on,
    .kind = WORD,
    .words = "off|on"};
ROWS_ADD(kopt, on);
