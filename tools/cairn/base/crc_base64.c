/* SPDX-License-Identifier: MIT */
#include "tools/cairn/base/crc_base64.h"

#include <stdbool.h>

#include "kernel/lib/crc32c.h"
#include "kernel/lib/errno.h"

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

long cairn_base64_plain(uint8_t *to, const char *from, size_t size)
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

#ifdef __x86_64__

#include <immintrin.h>

/* Each step waits for the one before it. So three stretches of this many bytes go at a time, and are put together: a
 * CRC that n more bytes follow is the same times x^8n, modulo the polynomial (Vinodh Gopal and others, "Fast CRC
 * Computation for iSCSI Polynomial Using CRC32 Instruction", Intel, 2011). */
#define STRETCH      128u
#define PAST_ONE     UINT64_C(0x0D3B6092) /* x^(8 STRETCH - 33), reflected: the multiplication and the step add 33 */
#define PAST_TWO     UINT64_C(0xB9E02B86) /* x^(16 STRETCH - 33) */
#define CRC_FEATURES "sse4.2,pclmul"

__attribute__((target(CRC_FEATURES))) static inline uint64_t crc_step(uint64_t crc, const uint8_t *p)
{
    uint64_t v;
    __builtin_memcpy(&v, p, 8);
    return _mm_crc32_u64(crc, v);
}

__attribute__((target(CRC_FEATURES))) static inline uint64_t crc_times(uint64_t crc, uint64_t power)
{
    const __m128i both = _mm_set_epi64x((long long)power, (long long)crc);
    return (uint64_t)_mm_cvtsi128_si64(_mm_clmulepi64_si128(both, both, 0x10));
}

__attribute__((target(CRC_FEATURES))) static uint32_t crc32c_sse42(const uint8_t *p, size_t size)
{
    uint64_t crc = UINT32_MAX;
    for (; size >= 3 * STRETCH; size -= 3 * STRETCH, p += 3 * STRETCH) {
        uint64_t second = 0, third = 0;
        for (size_t i = 0; i < STRETCH; i += 8) {
            crc = crc_step(crc, p + i);
            second = crc_step(second, p + STRETCH + i);
            third = crc_step(third, p + 2 * STRETCH + i);
        }
        crc = _mm_crc32_u64(0, crc_times(crc, PAST_TWO) ^ crc_times(second, PAST_ONE)) ^ third;
    }
    for (; size >= 8; size -= 8, p += 8)
        crc = crc_step(crc, p);
    for (; size; size--, p++)
        crc = _mm_crc32_u8((uint32_t)crc, *p);
    return ~(uint32_t)crc;
}

#define BOTH(...) _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__) /* halves: a shuffle looks up in its own */

/*
 * Thirty-two characters at a time (Wojciech Mula and Daniel Lemire, "Faster Base64 Encoding and Decoding Using AVX2
 * Instructions", 2018). A character is in the alphabet where what its two nibbles are looked up as has no bit in
 * common; what is to be added to make it six bits hangs on its high nibble, and for '/' on itself. Stops at the first
 * that hold any other, or that are too near the end, where thirty-two bytes could not be stored. Returns how many
 * characters it has taken.
 */
__attribute__((target("avx2"))) static size_t base64_avx2(uint8_t *to, const char *from, size_t size)
{
    const __m256i low =
        BOTH(0x15, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x13, 0x1A, 0x1B, 0x1B, 0x1B, 0x1A);
    const __m256i high =
        BOTH(0x10, 0x10, 0x01, 0x02, 0x04, 0x08, 0x04, 0x08, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10);
    const __m256i add = BOTH(0, 16, 19, 4, -65, -65, -71, -71, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m256i slash = _mm256_set1_epi8('/'); /* 2FH: also all bits of a nibble that a shuffle heeds or ignores */
    const __m256i order = BOTH(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1);
    const __m256i close = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    size_t at = 0;
    for (; size - at >= 46; at += 32, to += 24) { /* eight bytes more than these twenty-four come behind */
        __m256i v = _mm256_loadu_si256((const __m256i *)(from + at));
        __m256i nibble = _mm256_and_si256(_mm256_srli_epi32(v, 4), slash);
        if (!_mm256_testz_si256(_mm256_shuffle_epi8(low, _mm256_and_si256(v, slash)),
                                _mm256_shuffle_epi8(high, nibble)))
            break;
        v = _mm256_add_epi8(v, _mm256_shuffle_epi8(add, _mm256_add_epi8(_mm256_cmpeq_epi8(v, slash), nibble)));
        v = _mm256_maddubs_epi16(v, _mm256_set1_epi32(0x01400140));
        v = _mm256_shuffle_epi8(_mm256_madd_epi16(v, _mm256_set1_epi32(0x00011000)), order);
        _mm256_storeu_si256((__m256i *)to, _mm256_permutevar8x32_epi32(v, close));
    }
    return at;
}

uint32_t cairn_crc32c(const void *data, size_t size)
{
    const bool fast = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
    return fast ? crc32c_sse42(data, size) : kcrc32c(0, data, size);
}

long cairn_base64_decode(uint8_t *to, const char *from, size_t size)
{
    const size_t taken = __builtin_cpu_supports("avx2") ? base64_avx2(to, from, size) : 0;
    const long rest = cairn_base64_plain(to + taken / 4 * 3, from + taken, size - taken);
    return rest < 0 ? rest : (long)(taken / 4 * 3) + rest;
}

#else

uint32_t cairn_crc32c(const void *data, size_t size)
{
    return kcrc32c(0, data, size);
}

long cairn_base64_decode(uint8_t *to, const char *from, size_t size)
{
    return cairn_base64_plain(to, from, size);
}

#endif
