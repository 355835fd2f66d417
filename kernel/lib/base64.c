/* SPDX-License-Identifier: MIT */
#include "kernel/lib/base64.h"

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
