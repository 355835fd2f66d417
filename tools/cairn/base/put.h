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

/* The digits of 0 to 99. */
static const char cairn_digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                        "25262728293031323334353637383940414243444546474849"
                                        "50515253545556575859606162636465666768697071727374"
                                        "75767778798081828384858687888990919293949596979899";

/* With so many digits, zeros in front. */
static inline char *cairn_put_digits(char *at, uint32_t value, unsigned digits)
{
    char *const end = at + digits;
    for (; digits > 1; digits -= 2, value /= 100)
        memcpy(at + digits - 2, cairn_digit_pairs + 2 * (value % 100), 2);
    if (digits)
        *at = (char)('0' + value % 10);
    return end;
}

/* With blanks in front, at least `width` wide. */
static inline char *cairn_put_number(char *at, uint64_t value, unsigned width)
{
    if (value < 100) { /* most are */
        const unsigned digits = 1 + (value > 9);
        for (; width > digits; width--)
            *at++ = ' ';
        return cairn_put_digits(at, (uint32_t)value, digits);
    }
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
