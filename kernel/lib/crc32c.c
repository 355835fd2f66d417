/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C by eight tables of 256 (slice-by-8, Kounavis and Berry). The CRC is linear over GF(2), so an entry is the sum
 * of the entries of its index's bits, and the compiler builds all 2048 from the 64 constants below.
 */
#include "kernel/lib/crc32c.h"

/* clang-format off */
#define SLICE(b0, b1, b2, b3, b4, b5, b6, b7) { ROW(0, b0, b1, b2, b3, b4, b5, b6, b7) }
#define ENTRY(n, b0, b1, b2, b3, b4, b5, b6, b7) \
    ((n) & 1 ? b0 : 0u) ^ ((n) & 2 ? b1 : 0u) ^ ((n) & 4 ? b2 : 0u) ^ ((n) & 8 ? b3 : 0u) ^ \
    ((n) & 16 ? b4 : 0u) ^ ((n) & 32 ? b5 : 0u) ^ ((n) & 64 ? b6 : 0u) ^ ((n) & 128 ? b7 : 0u)
#define R2(n, ...)   ENTRY(n, __VA_ARGS__), ENTRY((n) + 1, __VA_ARGS__)
#define R4(n, ...)   R2(n, __VA_ARGS__), R2((n) + 2, __VA_ARGS__)
#define R8(n, ...)   R4(n, __VA_ARGS__), R4((n) + 4, __VA_ARGS__)
#define R16(n, ...)  R8(n, __VA_ARGS__), R8((n) + 8, __VA_ARGS__)
#define R32(n, ...)  R16(n, __VA_ARGS__), R16((n) + 16, __VA_ARGS__)
#define R64(n, ...)  R32(n, __VA_ARGS__), R32((n) + 32, __VA_ARGS__)
#define R128(n, ...) R64(n, __VA_ARGS__), R64((n) + 64, __VA_ARGS__)
#define ROW(n, ...)  R128(n, __VA_ARGS__), R128((n) + 128, __VA_ARGS__)

/* table[k][1 << i]: bit i of a byte that is followed by k more bytes. */
static const uint32_t table[8][256] = {
    SLICE(0xF26B8303u, 0xE13B70F7u, 0xC79A971Fu, 0x8AD958CFu,
          0x105EC76Fu, 0x20BD8EDEu, 0x417B1DBCu, 0x82F63B78u),
    SLICE(0x13A29877u, 0x274530EEu, 0x4E8A61DCu, 0x9D14C3B8u,
          0x3FC5F181u, 0x7F8BE302u, 0xFF17C604u, 0xFBC3FAF9u),
    SLICE(0xA541927Eu, 0x4F6F520Du, 0x9EDEA41Au, 0x38513EC5u,
          0x70A27D8Au, 0xE144FB14u, 0xC76580D9u, 0x8B277743u),
    SLICE(0xDD45AAB8u, 0xBF672381u, 0x7B2231F3u, 0xF64463E6u,
          0xE964B13Du, 0xD725148Bu, 0xABA65FE7u, 0x52A0C93Fu),
    SLICE(0x38116FACu, 0x7022DF58u, 0xE045BEB0u, 0xC5670B91u,
          0x8F2261D3u, 0x1BA8B557u, 0x37516AAEu, 0x6EA2D55Cu),
    SLICE(0xEF306B19u, 0xDB8CA0C3u, 0xB2F53777u, 0x6006181Fu,
          0xC00C303Eu, 0x85F4168Du, 0x0E045BEBu, 0x1C08B7D6u),
    SLICE(0x68032CC8u, 0xD0065990u, 0xA5E0C5D1u, 0x4E2DFD53u,
          0x9C5BFAA6u, 0x3D5B83BDu, 0x7AB7077Au, 0xF56E0EF4u),
    SLICE(0x493C7D27u, 0x9278FA4Eu, 0x211D826Du, 0x423B04DAu,
          0x847609B4u, 0x0D006599u, 0x1A00CB32u, 0x34019664u),
};
/* clang-format on */

uint32_t kcrc32c(uint32_t crc, const void *data, size_t size)
{
    const uint8_t *p = data;
    crc = ~crc;
    for (; size >= 8; size -= 8, p += 8) {
        crc ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        crc = table[7][crc & 0xFF] ^ table[6][crc >> 8 & 0xFF] ^ table[5][crc >> 16 & 0xFF] ^ table[4][crc >> 24] ^
              table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
    }
    for (; size; size--, p++)
        crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xFF];
    return ~crc;
}
