/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 9; hint: symbol. The byte after a symbol is taken for the symbol's. */
#define lab_symbol_of right_lab_symbol_of
#include "solution.c" /* what is right */
#undef lab_symbol_of

int lab_symbol_of(const struct lab_symbol *table, uint32_t symbols, uint64_t address)
{
    for (uint32_t i = 0; i < symbols; i++)
        if (address >= table[i].address && address <= table[i].address + table[i].bytes)
            return (int)i;
    return -1;
}
