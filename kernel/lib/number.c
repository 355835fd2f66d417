/* SPDX-License-Identifier: MIT */
#include "kernel/lib/number.h"

bool knumber_parse(const char *s, size_t n, uint64_t *out)
{
    uint64_t v = 0;
    unsigned base = 10;
    if (n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        base = 16;
        s += 2;
        n -= 2;
    }
    if (!n)
        return false;
    for (; n; n--, s++) {
        unsigned char c = (unsigned char)*s;
        unsigned letter = c | 32u;
        unsigned digit = c >= '0' && c <= '9' ? c - '0' + 0u : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 99;
        if (digit >= base || __builtin_mul_overflow(v, (uint64_t)base, &v) || __builtin_add_overflow(v, digit, &v))
            return false;
    }
    *out = v;
    return true;
}
