/* SPDX-License-Identifier: MIT */
#include "kernel/line8/line8.h"

#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define MARKED(c) [c] = 1,
#define ONE(c)    +1u
static const uint8_t is_never[256] = {KLINE8_NEVER(MARKED)};
_Static_assert(KLINE8_NEVER_COUNT == 0 KLINE8_NEVER(ONE), "KLINE8_NEVER_COUNT");

#define RULED_OUT(c) out[byte ^ (c)] = 1;

/* How many of the bytes one key can carry at most, and that key. Each byte rules out the keys that would make it a
 * character that never occurs; the run ends where none is left. */
static size_t longest_run(const uint8_t *from, size_t size, uint8_t *key)
{
    uint8_t out[256 + 1]; /* by key; the last one ends the search */
    unsigned next = 0;
    memcpy(out, is_never, 256);
    out[256] = 0;
    for (size_t n = 0;; n++) {
        while (out[next])
            next++;
        if (next == 256)
            return n - 1;
        *key = (uint8_t)next;
        if (n == size)
            return n;
        const uint8_t byte = from[n];
        KLINE8_NEVER(RULED_OUT)
    }
}

size_t kline8_encode(char *to, const void *from, size_t size)
{
    const uint8_t *f = from;
    char *t = to;
    while (size) {
        uint8_t key;
        const size_t n = longest_run(f, size, &key);
        *t++ = KLINE8_RUN;
        *t++ = (char)key;
        for (size_t i = 0; i < n; i++)
            *t++ = (char)(f[i] ^ key);
        f += n;
        size -= n;
    }
    return (size_t)(t - to);
}

long kline8_decode(uint8_t *to, size_t room, const char *from, size_t size)
{
    const char *end = from + size;
    size_t total = 0;
    while (from < end) {
        if (end - from < 3 || from[0] != KLINE8_RUN)
            return -EINVAL;
        const uint8_t key = (uint8_t)from[1];
        const char *text = from + 2, *next = memchr(text, KLINE8_RUN, (size_t)(end - text));
        const size_t n = (size_t)((next ? next : end) - text);
        uint8_t bad = is_never[key];
        if (n == 0 || n > room - total)
            return -EINVAL;
        for (size_t i = 0; i < n; i++) {
            bad |= is_never[(uint8_t)text[i]];
            to[total + i] = (uint8_t)text[i] ^ key;
        }
        if (bad)
            return -EINVAL;
        total += n;
        from = text + n;
    }
    return (long)total;
}
