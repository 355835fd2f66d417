/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 2; hint: before. Takes the instruction that lies before RIP in memory. */
#define lab_before right_before
#include "labs/02-where-it-points/solution.c"
#undef lab_before

uint64_t lab_before(const struct lab_path *path, uint64_t rip)
{
    uint64_t below = 0;
    for (uint32_t i = 0; i < path->count; i++)
        if (path->instruction[i] < rip && path->instruction[i] > below)
            below = path->instruction[i];
    return below && right_before(path, rip) ? below : 0;
}
