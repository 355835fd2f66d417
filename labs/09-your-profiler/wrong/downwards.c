/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 9; hint: grows. A frame may point down, or to itself. */
#define lab_stack right_lab_stack
#include "solution.c" /* what is right */
#undef lab_stack

uint32_t lab_stack(uint64_t ip, uint64_t rbp, uint64_t low, uint64_t high, uint64_t out[LAB_DEPTH])
{
    uint32_t n = 0;
    out[n++] = ip;
    for (; n < LAB_DEPTH && rbp % 8 == 0 && rbp >= low && rbp <= high - 16; rbp = *(const uint64_t *)rbp)
        out[n++] = ((const uint64_t *)rbp)[1];
    return n;
}
