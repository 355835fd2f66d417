/* SPDX-License-Identifier: MIT */
#include "kernel/lib/crc32c.h"

/* What four bits that leave the register make of the rest. */
static const uint32_t table[16] = {
    0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3, 0x61C69362, 0x7198540D,
    0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9, 0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
};

uint32_t kcrc32c(uint32_t crc, const void *data, size_t size)
{
    crc = ~crc;
    for (const uint8_t *p = data; size; size--, p++) {
        crc ^= *p;
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}
