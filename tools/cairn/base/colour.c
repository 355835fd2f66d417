/* SPDX-License-Identifier: MIT */
#include "tools/cairn/base/colour.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/pager.h"

enum { AUTO, ALWAYS, NEVER };
const char *const cairn_colour_names[] = {"auto", "always", "never", NULL};
unsigned cairn_colour_when;

static bool wanted(FILE *to)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (cairn_colour_when != AUTO)
        return cairn_colour_when == ALWAYS;
    return !(no && *no) && terminal && strcmp(terminal, "dumb") != 0 && cairn_pager_or_terminal(to);
}

const char *cairn_colour(FILE *to, enum cairn_colour colour)
{
    static const char *const sequences[] = {
        [CAIRN_COLOUR_OFF] = "\033[m",    [CAIRN_COLOUR_HEAD] = "\033[1m",   [CAIRN_COLOUR_BAD] = "\033[1;31m",
        [CAIRN_COLOUR_GOOD] = "\033[32m", [CAIRN_COLOUR_PLACE] = "\033[35m", [CAIRN_COLOUR_STATE] = "\033[36m",
    };
    static signed char known[2]; /* of standard output, and of errors; 0: not yet */
    signed char *k = to == stderr ? &known[1] : &known[0];
    if (!*k)
        *k = wanted(to) ? 1 : -1;
    return *k > 0 ? sequences[colour] : "";
}
