/* SPDX-License-Identifier: MIT */
#include "tools/cairn/base/slice.h"

#include <stdio.h>
#include <string.h>

const char *cairn_slice_text(char *out, size_t size, struct cairn_slice s)
{
    size_t n = s.size < size ? s.size : size - 1;
    while (n && n < s.size && (s.at[n] & 0xC0) == 0x80) /* no part of a character */
        n--;
    memcpy(out, s.at, n);
    out[n] = '\0';
    return out;
}

struct cairn_slice cairn_slice_of(const char *text)
{
    return (struct cairn_slice){text, (uint32_t)strlen(text)};
}

bool cairn_slice_is(struct cairn_slice s, const char *text)
{
    return s.size == strlen(text) && memcmp(s.at, text, s.size) == 0;
}

bool cairn_slice_same(struct cairn_slice a, struct cairn_slice b)
{
    return a.size == b.size && (!a.size || memcmp(a.at, b.at, a.size) == 0);
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

bool cairn_slice_digits(struct cairn_slice *s, unsigned base, uint64_t *value)
{
    uint64_t v = 0;
    uint32_t i = 0;
    for (; i < s->size && s->at[i] != ' '; i++) {
        unsigned d = (unsigned)digit(s->at[i]);
        if (d >= base || v > (UINT64_MAX - d) / base)
            return false;
        v = v * base + d;
    }
    if (i == 0)
        return false;
    while (i < s->size && s->at[i] == ' ')
        i++;
    s->at += i;
    s->size -= i;
    *value = v;
    return true;
}

bool cairn_slice_number(struct cairn_slice *s, uint64_t *value)
{
    if (s->size > 2 && s->at[0] == '0' && s->at[1] == 'x') {
        struct cairn_slice digits = {s->at + 2, s->size - 2};
        if (!cairn_slice_digits(&digits, 16, value))
            return false;
        *s = digits;
        return true;
    }
    return cairn_slice_digits(s, 10, value);
}

bool cairn_slice_u64(struct cairn_slice s, uint64_t *value)
{
    uint64_t v;
    if (!cairn_slice_number(&s, &v) || s.size)
        return false;
    *value = v;
    return true;
}

bool cairn_slice_numbers(struct cairn_slice s, uint64_t *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!cairn_slice_number(&s, &values[i]))
            return false;
    return s.size == 0;
}

unsigned cairn_utf8(const uint8_t *p, size_t left)
{
    static const struct {
        uint8_t first, last, low, high; /* of the lead byte; of the one behind it */
    } leads[] = {
        {0xC2, 0xDF, 0x80, 0xBF}, {0xE0, 0xE0, 0xA0, 0xBF}, {0xE1, 0xEC, 0x80, 0xBF}, {0xED, 0xED, 0x80, 0x9F},
        {0xEE, 0xEF, 0x80, 0xBF}, {0xF0, 0xF0, 0x90, 0xBF}, {0xF1, 0xF3, 0x80, 0xBF}, {0xF4, 0xF4, 0x80, 0x8F},
    };
    if (*p < 0x80)
        return 1;
    for (unsigned i = 0; i < sizeof leads / sizeof leads[0]; i++) {
        const unsigned size = *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;
        if (*p < leads[i].first || *p > leads[i].last)
            continue;
        if (left < size || p[1] < leads[i].low || p[1] > leads[i].high)
            return 0;
        for (unsigned k = 2; k < size; k++)
            if ((p[k] & 0xC0) != 0x80)
                return 0;
        return size;
    }
    return 0;
}

uint32_t cairn_utf8_value(const uint8_t *p, unsigned size)
{
    uint32_t c = size == 1 ? p[0] : p[0] & (0x7Fu >> size);
    for (unsigned i = 1; i < size; i++)
        c = c << 6 | (p[i] & 0x3Fu);
    return c;
}

const char *cairn_plural(uint64_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}
