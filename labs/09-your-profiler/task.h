/* SPDX-License-Identifier: MIT */
/* Lab 9: what you write. The lab takes the samples. */
#pragma once

#include "labs/lab.h"

/* ---- names */

struct lab_symbol { /* a function of the program */
    uint64_t address;
    uint32_t bytes;
    const char *name;
};

/* The number of the symbol that `address` is in, or -1: it is in none. The table is sorted by address; there may be
 * gaps between symbols. */
int lab_symbol_of(const struct lab_symbol *table, uint32_t symbols, uint64_t address);

/* ---- periods and error bars */

/* A period within 15 % of `about`, which is 100 or more. In each loop of 2 to 64 instructions, every instruction must
 * get as many samples as any other in the long run. So the distance between two records must share no divisor but 1
 * with any number from 2 to 64. The distance is the period if the event has precise distribution (`precise`), otherwise
 * the period + 1. */
uint64_t lab_period(uint64_t about, bool precise);

struct lab_interval {
    uint32_t low, high;
};

/* Of `all` samples, `seen` are in a function. In a second run, with other samples, it would be another number. Returns
 * the error bars: an interval that contains the number which the function's true share would give, in about 95 of 100
 * runs. `low` and `high` belong to it, and it lies within 0 to `all`. It reaches two standard deviations to each side,
 * rounded up; README.md says how far if `seen` is 0 or `all`. seen <= all. */
struct lab_interval lab_error_bars(uint32_t seen, uint32_t all);

/* The square root, rounded down: there is no floating point in the kernel. */
static inline uint32_t lab_square_root(uint64_t n)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= n)
            root += bit;
    return (uint32_t)root;
}

/* ---- stacks */

#define LAB_DEPTH 8u

/* Where a sample was, and who had called it. `ip` is the sample's EventingIP, and `rbp` its RBP. The program keeps
 * frame pointers: RBP points to a word with the caller's RBP, and the word after it is the address to return to. Writes
 * addresses to `out`: `ip` first, then the return addresses, the innermost first, at most LAB_DEPTH in all. Returns how
 * many.
 *
 * The stack is from `low` up to but not including `high`, and you may read nothing else. RBP may be anything: code
 * without frame pointers uses it for data. The walk ends where RBP is not the address of two words of the stack, is no
 * multiple of 8, or is not above the RBP before it. */
uint32_t lab_stack(uint64_t ip, uint64_t rbp, uint64_t low, uint64_t high, uint64_t out[LAB_DEPTH]);

/* ---- a flame graph */

struct lab_calls { /* a stack of which the names are known: numbers of symbols, the innermost first */
    uint32_t depth;
    uint8_t symbol[LAB_DEPTH];
};

/* Calls lab_line once for each different stack, in any order, with how many of the `count` stacks are the same as it.
 * There is no malloc in the kernel, and none is needed. */
void lab_fold(const struct lab_calls *stacks, uint32_t count);

/* Prints a line of the folded stacks, for example "job;parse;hash 12": the outermost function first. */
void lab_line(const struct lab_calls *outermost_first, uint32_t samples);
