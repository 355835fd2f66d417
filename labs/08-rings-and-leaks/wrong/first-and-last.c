/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 8; hint: pages. Only the pages of the first and the last byte are looked at. */
#define lab_ds_memory right_ds_memory
#include "labs/08-rings-and-leaks/solution.c"
#undef lab_ds_memory

enum lab_fitness lab_ds_memory(uint64_t address, uint64_t bytes)
{
    return worse(right_ds_memory(address, 1), right_ds_memory(address + bytes - 1, 1));
}
