/* SPDX-License-Identifier: MIT */
/* A right program for lab 9: a linear search from the last symbol, and periods downwards. */
#define lab_symbol_of right_symbol_of
#define lab_period    right_period
#include "labs/09-your-profiler/solution.c"
#undef lab_symbol_of
#undef lab_period

int lab_symbol_of(const struct lab_symbol *table, uint32_t symbols, uint64_t address)
{
    for (uint32_t i = symbols; i-- > 0;)
        if (address >= table[i].address)
            return address < table[i].address + table[i].bytes ? (int)i : -1;
    return -1;
}

uint64_t lab_period(uint64_t about, bool precise)
{
    uint64_t apart = about;
    while (!meets_all(apart))
        apart--;
    return precise ? apart : apart - 1;
}
