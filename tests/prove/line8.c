/* SPDX-License-Identifier: MIT */
/* Proofs about 8-bit lines (kernel/line8/line8.h). */
#include "kernel/line8/line8.h"

#define MOST 12u
static uint8_t bytes[MOST], back[MOST];
static char text[KLINE8_MOST(MOST)];

void line8_decode(void)
{
    const size_t size = Frama_C_size_t_interval(0, MOST), room = Frama_C_size_t_interval(0, MOST);
    PROVE_ANY(text);
    //@ split size;
    //@ split room;
    const long n = kline8_decode(PROVE_LAST(back, room), room, PROVE_LAST(text, size), size);
    //@ check size: n == -EINVAL || 0 <= n <= room;
    PROVE_END();
}
