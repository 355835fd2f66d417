/* SPDX-License-Identifier: MIT */
/*
 * Lab 9: your code. README.md has the task. Run it with: make lab N=9
 */
#include "task.h"

int lab_symbol_of(const struct lab_symbol *table, uint32_t symbols, uint64_t address)
{
    (void)table, (void)symbols, (void)address; /* remove this line */
    return -1;
}

uint64_t lab_period(uint64_t about, bool precise)
{
    (void)precise; /* remove this line */
    return about;
}

struct lab_interval lab_error_bars(uint32_t seen, uint32_t all)
{
    (void)all; /* remove this line */
    return (struct lab_interval){seen, seen};
}

uint32_t lab_stack(uint64_t ip, uint64_t rbp, uint64_t low, uint64_t high, uint64_t out[LAB_DEPTH])
{
    (void)rbp, (void)low, (void)high; /* remove this line */
    out[0] = ip;
    return 1;
}

void lab_fold(const struct lab_calls *stacks, uint32_t count)
{
    (void)stacks, (void)count; /* remove this line */
}
