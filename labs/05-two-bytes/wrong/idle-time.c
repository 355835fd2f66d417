/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 5; hint: decode-time. Does not count the time of idle records. */
#define decode right
#include "labs/05-two-bytes/solution.c" /* all else is right */
#undef decode

uint32_t decode(const uint8_t *batch, uint32_t bytes, struct decoded *out, uint32_t room)
{
    const uint32_t count = right(batch, bytes, out, room);
    int64_t idle = 0;
    for (uint32_t i = 0; count != DECODE_BAD && i < count; i++) {
        if (i && out[i].form < CCSWAP_LITE)
            idle += out[i].time - idle - out[i - 1].time;
        out[i].time -= idle;
    }
    return count;
}
