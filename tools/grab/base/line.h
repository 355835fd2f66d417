/* SPDX-License-Identifier: MIT */
/* Names that somebody else chose, of files, threads, functions and commands: each must fit in one line of a log. */
#pragma once

#include <stdbool.h>

static inline bool grab_line_ends(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7F;
}

/* Control characters become '?'. */
static inline void grab_line_clean(char *name)
{
    for (; *name; name++)
        if (grab_line_ends(*name))
            *name = '?';
}

static inline bool grab_line_fits(const char *name)
{
    while (*name && !grab_line_ends(*name))
        name++;
    return !*name;
}
