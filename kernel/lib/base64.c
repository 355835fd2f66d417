/* SPDX-License-Identifier: MIT */
/* base64: see base64.h. It uses tables, since the host decodes hundreds of megabytes. */
#include "kernel/lib/base64.h"

#include "kernel/lib/errno.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t kbase64_encode(char *to, const void *from, size_t size)
{
    const uint8_t *f = from;
    char *t = to;
    for (; size >= 3; size -= 3, f += 3) {
        uint32_t v = (uint32_t)f[0] << 16 | (uint32_t)f[1] << 8 | f[2];
        *t++ = alphabet[v >> 18];
        *t++ = alphabet[v >> 12 & 63];
        *t++ = alphabet[v >> 6 & 63];
        *t++ = alphabet[v & 63];
    }
    if (size) {
        uint32_t v = (uint32_t)f[0] << 16 | (size == 2 ? (uint32_t)f[1] << 8 : 0);
        *t++ = alphabet[v >> 18];
        *t++ = alphabet[v >> 12 & 63];
        *t++ = size == 2 ? alphabet[v >> 6 & 63] : '=';
        *t++ = '=';
    }
    return (size_t)(t - to);
}

/* Value of a character plus 1; 0 outside the alphabet. */
/* clang-format off */
static const uint8_t value[256] = {
    ['A'] = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
    ['a'] = 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52,
    ['0'] = 53, 54, 55, 56, 57, 58, 59, 60, 61, 62,
    ['+'] = 63, ['/'] = 64,
};
/* clang-format on */

/* Six bits; all 32 outside the alphabet, so that bit 31 of what they are shifted and gathered into tells. */
static inline uint32_t six(char c)
{
    return (uint32_t)value[(uint8_t)c] - 1;
}

long kbase64_decode(uint8_t *to, const char *from, size_t size)
{
    if (size % 4)
        return -EINVAL;
    if (size == 0)
        return 0;
    const char *last = from + size - 4;
    uint8_t *t = to;
    for (; from < last; from += 4) {
        uint32_t v = six(from[0]) << 18 | six(from[1]) << 12 | six(from[2]) << 6 | six(from[3]);
        if (v >> 31)
            return -EINVAL;
        *t++ = (uint8_t)(v >> 16);
        *t++ = (uint8_t)(v >> 8);
        *t++ = (uint8_t)v;
    }
    unsigned n = last[3] != '=' ? 4 : last[2] != '=' ? 3 : 2;
    uint32_t v = six(last[0]) << 18 | six(last[1]) << 12 | (n > 2 ? six(last[2]) << 6 : 0) | (n > 3 ? six(last[3]) : 0);
    if (v >> 31 || (n == 3 && v & 0xFF) || (n == 2 && v & 0xFFFF))
        return -EINVAL;
    *t++ = (uint8_t)(v >> 16);
    if (n > 2)
        *t++ = (uint8_t)(v >> 8);
    if (n > 3)
        *t++ = (uint8_t)v;
    return t - to;
}
