/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* Puts `more` behind the text in `text`, which has `size` bytes, cut where there is no room. What cannot be printed
 * becomes '?'. */
static inline void save_append(char *text, size_t size, const char *more)
{
    size_t n = 0;
    while (text[n] != 0)
        n++;
    for (; *more != 0 && n < size - 1; more++)
        text[n++] = *more >= ' ' && *more <= '~' ? *more : '?';
    text[n] = 0;
}
