/* SPDX-License-Identifier: MIT */
/* Proofs about CRC-32C (kernel/lib/crc32c.h). */
#include "kernel/lib/crc32c.h"

#define MOST 64u
static uint8_t bytes[MOST];

void crc32c(void)
{
    const size_t size = Frama_C_size_t_interval(0, MOST);
    PROVE_ANY(bytes);
    //@ split size;
    kcrc32c(Frama_C_unsigned_int_interval(0, UINT32_MAX), PROVE_LAST(bytes, size), size);
    PROVE_END();
}

/* The table is that of the polynomial: the CRC of a byte is the shift register's. */
void crc32c_table(void)
{
    uint8_t byte = Frama_C_unsigned_char_interval(0, 255);
    //@ split byte;
    uint32_t wanted = UINT32_MAX ^ byte;
    for (unsigned bit = 0; bit < 8; bit++)
        wanted = wanted >> 1 ^ (wanted & 1 ? 0x82F63B78u : 0);
    const uint32_t crc = kcrc32c(0, &byte, 1);
    //@ check equal: crc == (uint32_t)~wanted;
    PROVE_END();
}
