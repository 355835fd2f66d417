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

/* The eight tables are those of the polynomial: the CRC of one byte and of what follows it is the shift register's.
 * Each byte by itself; its place is what tells the tables apart. */
void crc32c_tables(void)
{
    uint8_t byte = Frama_C_unsigned_char_interval(0, 255);
    //@ split byte;
    for (unsigned place = 0; place < 8; place++) {
        uint8_t eight[8] = {0};
        uint32_t wanted = UINT32_MAX;
        eight[place] = byte;
        for (unsigned i = 0; i < 8; i++) {
            wanted ^= eight[i];
            for (unsigned bit = 0; bit < 8; bit++)
                wanted = wanted >> 1 ^ (wanted & 1 ? 0x82F63B78u : 0);
        }
        const uint32_t crc = kcrc32c(0, eight, 8);
        //@ check equal: crc == (uint32_t)~wanted;
    }
    PROVE_END();
}

/* A byte alone takes another way through the code; its table is the one of place 7. */
void crc32c_alone(void)
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
