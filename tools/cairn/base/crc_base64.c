/* SPDX-License-Identifier: MIT */
#include "tools/cairn/base/crc_base64.h"

#include "kernel/lib/base64.h"
#include "kernel/lib/crc32c.h"

#ifdef __x86_64__

#include <immintrin.h>

__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(const uint8_t *p, size_t size)
{
    uint64_t crc = UINT32_MAX;
    for (; size >= 8; size -= 8, p += 8) {
        uint64_t v;
        __builtin_memcpy(&v, p, 8);
        crc = _mm_crc32_u64(crc, v);
    }
    for (; size; size--, p++)
        crc = _mm_crc32_u8((uint32_t)crc, *p);
    return ~(uint32_t)crc;
}

/*
 * Sixteen characters at a time (Wojciech Mula and Daniel Lemire, "Faster Base64 Encoding and Decoding Using AVX2
 * Instructions", 2018). A character is in the alphabet where what its two nibbles are looked up as has no bit in
 * common; what is to be added to make it six bits hangs on its high nibble, and for '/' on itself. Stops at the first
 * sixteen that hold any other, or that are too near the end, where sixteen bytes could not be stored. Returns how many
 * characters it has taken.
 */
__attribute__((target("ssse3"))) static size_t base64_ssse3(uint8_t *to, const char *from, size_t size)
{
    const __m128i low = _mm_setr_epi8(0x15, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x13, 0x1A, 0x1B,
                                      0x1B, 0x1B, 0x1A);
    const __m128i high = _mm_setr_epi8(0x10, 0x10, 0x01, 0x02, 0x04, 0x08, 0x04, 0x08, 0x10, 0x10, 0x10, 0x10, 0x10,
                                       0x10, 0x10, 0x10);
    const __m128i add = _mm_setr_epi8(0, 16, 19, 4, -65, -65, -71, -71, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m128i slash = _mm_set1_epi8('/'); /* 2FH: also all the bits of a nibble that a shuffle heeds or ignores */
    const __m128i order = _mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1);
    size_t at = 0;
    for (; size - at >= 24; at += 16, to += 12) { /* four bytes more than these twelve come behind */
        __m128i v = _mm_loadu_si128((const __m128i *)(from + at));
        __m128i nibble = _mm_and_si128(_mm_srli_epi32(v, 4), slash);
        __m128i both = _mm_and_si128(_mm_shuffle_epi8(low, _mm_and_si128(v, slash)), _mm_shuffle_epi8(high, nibble));
        if (_mm_movemask_epi8(_mm_cmpeq_epi8(both, _mm_setzero_si128())) != 0xFFFF)
            break;
        v = _mm_add_epi8(v, _mm_shuffle_epi8(add, _mm_add_epi8(_mm_cmpeq_epi8(v, slash), nibble)));
        v = _mm_madd_epi16(_mm_maddubs_epi16(v, _mm_set1_epi32(0x01400140)), _mm_set1_epi32(0x00011000));
        _mm_storeu_si128((__m128i *)to, _mm_shuffle_epi8(v, order));
    }
    return at;
}

uint32_t cairn_crc32c(const void *data, size_t size)
{
    return __builtin_cpu_supports("sse4.2") ? crc32c_sse42(data, size) : trace_crc32c(0, data, size);
}

long cairn_base64_decode(uint8_t *to, const char *from, size_t size)
{
    const size_t taken = __builtin_cpu_supports("ssse3") ? base64_ssse3(to, from, size) : 0;
    const long rest = trace_base64_decode(to + taken / 4 * 3, from + taken, size - taken);
    return rest < 0 ? rest : (long)(taken / 4 * 3) + rest;
}

#else

uint32_t cairn_crc32c(const void *data, size_t size)
{
    return trace_crc32c(0, data, size);
}

long cairn_base64_decode(uint8_t *to, const char *from, size_t size)
{
    return trace_base64_decode(to, from, size);
}

#endif
