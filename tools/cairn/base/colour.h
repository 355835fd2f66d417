/* SPDX-License-Identifier: MIT */
/* Colours for a person at a terminal, unless the environment has NO_COLOR (no-color.org) or --color says otherwise.
 * Only the sixteen colours that a terminal's owner can choose, and none that is hard to read on black or white. */
#pragma once

#include <stdio.h>

enum cairn_colour {
    CAIRN_COLOUR_OFF,
    CAIRN_COLOUR_HEAD,
    CAIRN_COLOUR_BAD, /* lost, missing, failed */
    CAIRN_COLOUR_GOOD,
    CAIRN_COLOUR_PLACE, /* a function */
    CAIRN_COLOUR_STATE, /* of a thread, or why it waits */
};

extern const char *const cairn_colour_names[]; /* of --color: auto, always, never, then NULL */
extern unsigned cairn_colour_when;             /* which of them */

/* What begins a colour in `to`, and with CAIRN_COLOUR_OFF ends it: "" where there are none. It takes no columns: what
 * is padded is padded in between. No newline belongs in between: pagers end colours there. */
const char *cairn_colour(FILE *to, enum cairn_colour colour);
