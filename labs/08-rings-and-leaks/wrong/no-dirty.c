/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 8; hint: untouched. The Accessed and Dirty bits are not looked at. */
#define lab_ds_memory right_memory
#include "labs/08-rings-and-leaks/solution.c"
#undef lab_ds_memory

enum lab_fitness lab_ds_memory(uint64_t address, uint64_t bytes)
{
    const enum lab_fitness right = right_memory(address, bytes);
    return right == LAB_UNTOUCHED ? LAB_FIT : right;
}
