/* SPDX-License-Identifier: MIT */
/* What an option is, in words: its values, its default, and what it needs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Option `i` for --help and docs/reference/options.md; false past the last. */
struct options_help {
    const char *name, *values, *standard, *text;
    const char *needs; /* "name=a|b" or "name!=a", several with commas: without it the option has no effect; NULL:
                        * nothing */
};
bool options_describe(size_t i, struct options_help *help);
