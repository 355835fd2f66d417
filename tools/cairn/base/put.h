/* SPDX-License-Identifier: MIT */
/* Parts of a line, put together in memory: printf takes too long where there are millions of lines. Each function
 * returns where the next part goes; there is room for what they put. */
#pragma once

#include <stdint.h>
#include <string.h>

static inline char *cairn_put(char *at, const char *text, size_t size)
{
    memcpy(at, text, size);
    return at + size;
}

/* With so many digits, zeros in front. */
static inline char *cairn_put_digits(char *at, uint32_t value, unsigned digits)
{
    for (unsigned i = digits; i--; value /= 10)
        at[i] = (char)('0' + value % 10);
    return at + digits;
}

/* With blanks in front, at least `width` wide. */
static inline char *cairn_put_number(char *at, uint64_t value, unsigned width)
{
    char text[20], *first = text + sizeof(text);
    for (; value > UINT32_MAX; value /= 10)
        *--first = (char)('0' + value % 10);
    for (uint32_t rest = (uint32_t)value, any = 1; any; any = rest) {
        *--first = (char)('0' + rest % 10);
        rest /= 10;
    }
    const size_t size = (size_t)(text + sizeof(text) - first);
    for (; width > size; width--)
        *at++ = ' ';
    for (size_t i = 0; i < size; i++)
        at[i] = first[i];
    return at + size;
}
