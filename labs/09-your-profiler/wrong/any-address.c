/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 9; hint: bounds. RBP is followed wherever it leads. */
#define lab_stack right_lab_stack
#include "solution.c" /* what is right */
#undef lab_stack

uint32_t lab_stack(uint64_t ip, uint64_t rbp, uint64_t low, uint64_t high, uint64_t out[LAB_DEPTH])
{
    uint32_t n = 0;
    (void)low, (void)high;
    out[n++] = ip;
    for (; n < LAB_DEPTH && rbp; rbp = *(const uint64_t *)rbp)
        out[n++] = ((const uint64_t *)rbp)[1];
    return n;
}
