/* SPDX-License-Identifier: MIT */
/* A right program for lab 9: lab_stack calls itself for each frame. */
#define lab_stack right_stack
#include "labs/09-your-profiler/solution.c"
#undef lab_stack

static uint32_t walk(uint64_t rbp, uint64_t low, uint64_t high, uint64_t *out, uint32_t room)
{
    if (!room || rbp & 7 || rbp < low || high < 16 || rbp > high - 16)
        return 0;
    const uint64_t *frame = (const uint64_t *)rbp;
    *out = frame[1];
    return 1 + (frame[0] > rbp ? walk(frame[0], low, high, out + 1, room - 1) : 0);
}

uint32_t lab_stack(uint64_t ip, uint64_t rbp, uint64_t low, uint64_t high, uint64_t out[LAB_DEPTH])
{
    out[0] = ip;
    return 1 + walk(rbp, low, high, out + 1, LAB_DEPTH - 1);
}
