/* SPDX-License-Identifier: MIT */
/* A right program for lab 8: lab_ds_memory asks all pages for one fault after another, each space by itself. */
#define lab_ds_memory right_ds_memory
#include "labs/08-rings-and-leaks/solution.c"
#undef lab_ds_memory

static bool any(uint64_t first, uint64_t last, enum lab_fitness fault)
{
    for (int space = LAB_SPACE_PROGRAM; space >= LAB_SPACE_KERNEL; space--)
        for (uint64_t page = last; page >= first; page -= LAB_PAGE_BYTES)
            if (fitness(lab_page((enum lab_space)space, page)) == fault)
                return true;
    return false;
}

enum lab_fitness lab_ds_memory(uint64_t address, uint64_t bytes)
{
    const uint64_t last = address + bytes - 1;
    for (unsigned fault = LAB_EXPOSED; fault <= LAB_UNTOUCHED; fault++)
        if (any(address & -(uint64_t)LAB_PAGE_BYTES, last, (enum lab_fitness)fault))
            return (enum lab_fitness)fault;
    return LAB_FIT;
}
