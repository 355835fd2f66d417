/* SPDX-License-Identifier: MIT */
#include "tools/cairn/base/line8.h"

#include "kernel/lib/errno.h"
#include "kernel/lib/line8.h"

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

/* Whole runs, thirty-two characters at a time. Stops in front of one that is none, or that is too near the end, where
 * thirty-two bytes could not be read or stored. Returns how many characters it has taken, and in *done how many bytes
 * they are. */
__attribute__((target("avx2"))) static size_t runs_avx2(uint8_t *to, size_t room, const char *from, size_t size,
                                                        size_t *done)
{
    size_t taken = 0;
    *done = 0;
    while (size - taken >= 2 && from[taken] == TRACE_LINE8_RUN) {
        const __m256i key = _mm256_set1_epi8(from[taken + 1]);
        size_t at = taken + 2, n = *done;
        for (uint32_t ends = never(key); !ends;) {
            if (size - at < 32 || room - n < 32)
                return taken;
            const __m256i v = _mm256_loadu_si256((const __m256i *)(from + at));
            ends = never(v);
            _mm256_storeu_si256((__m256i *)(to + n), _mm256_xor_si256(v, key));
            const unsigned good = ends ? (unsigned)__builtin_ctz(ends) : 32;
            at += good;
            n += good;
        }
        if (at == taken + 2)
            break;
        taken = at;
        *done = n;
    }
    return taken;
}

/* trace_line8_decode refuses what is no run, and takes those near the end. */
long cairn_line8_decode(uint8_t *to, size_t room, const char *from, size_t size)
{
    size_t done = 0;
    const size_t taken = __builtin_cpu_supports("avx2") ? runs_avx2(to, room, from, size, &done) : 0;
    const long rest = trace_line8_decode(to + done, room - done, from + taken, size - taken);
    return rest < 0 ? rest : (long)done + rest;
}

#else

long cairn_line8_decode(uint8_t *to, size_t room, const char *from, size_t size)
{
    return trace_line8_decode(to, room, from, size);
}

#endif
