/* SPDX-License-Identifier: MIT */
#include "tools/cairn/base/line8.h"

#include "kernel/lib/errno.h"
#include "kernel/line8/line8.h"

#ifdef __x86_64__

#include <immintrin.h>

#define BOTH(...) _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__) /* halves: a shuffle looks up in its own */

/* A bit for each of 32 characters that never occurs: its two nibbles, looked up, have a bit in common. Each bit stands
 * for a high nibble that has such characters. */
__attribute__((target("avx2"))) static inline uint32_t never(__m256i v)
{
    const __m256i low =
        BOTH(0x05, 0x02, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x0B, 0x02, 0x00, 0x09, 0x10, 0x30);
    const __m256i high =
        BOTH(0x01, 0x02, 0x04, 0x08, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20);
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i common =
        _mm256_and_si256(_mm256_shuffle_epi8(low, _mm256_and_si256(v, nibble)),
                         _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble)));
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(common, _mm256_setzero_si256()));
}

/* Thirty-two characters at a time, up to the first that never occurs: it begins the next run, or is refused. Those near
 * an end, where thirty-two could not be read or stored, one by one. */
__attribute__((target("avx2"))) static long decode_avx2(uint8_t *to, size_t room, const char *from, size_t size)
{
    size_t at = 0, n = 0;
    while (at < size) {
        if (size - at < 3 || from[at] != KLINE8_RUN || !kline8_occurs((uint8_t)from[at + 1]))
            return -EINVAL;
        const __m256i key = _mm256_set1_epi8(from[at + 1]);
        const uint8_t one = (uint8_t)from[at + 1];
        const size_t begin = n;
        at += 2;
        for (uint32_t ends = 0; !ends && size - at >= 32 && room - n >= 32;) {
            const __m256i v = _mm256_loadu_si256((const __m256i *)(from + at));
            ends = never(v);
            _mm256_storeu_si256((__m256i *)(to + n), _mm256_xor_si256(v, key));
            const unsigned good = ends ? (unsigned)__builtin_ctz(ends) : 32;
            at += good;
            n += good;
        }
        for (; at < size && from[at] != KLINE8_RUN; at++) {
            if (n == room || !kline8_occurs((uint8_t)from[at]))
                return -EINVAL;
            to[n++] = (uint8_t)from[at] ^ one;
        }
        if (n == begin)
            return -EINVAL;
    }
    return (long)n;
}

long cairn_line8_decode(uint8_t *to, size_t room, const char *from, size_t size)
{
    return __builtin_cpu_supports("avx2") ? decode_avx2(to, room, from, size) : kline8_decode(to, room, from, size);
}

#else

long cairn_line8_decode(uint8_t *to, size_t room, const char *from, size_t size)
{
    return kline8_decode(to, room, from, size);
}

#endif
