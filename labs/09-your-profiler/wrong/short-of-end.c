/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 9; hint: edges. The frame that takes the last two words of the stack is left out. */
#define lab_stack right_lab_stack
#include "solution.c" /* what is right */
#undef lab_stack

uint32_t lab_stack(uint64_t ip, uint64_t rbp, uint64_t low, uint64_t high, uint64_t out[LAB_DEPTH])
{
    return right_lab_stack(ip, rbp, low, high - 1, out);
}
