/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 2; hint: several. The first way to an address is taken for the only one. */
#define lab_before right_before
#include "labs/02-where-it-points/solution.c"
#undef lab_before

uint64_t lab_before(const struct lab_path *path, uint64_t rip)
{
    for (uint32_t i = 1; i < path->count; i++)
        if (path->instruction[i] == rip)
            return path->instruction[i - 1];
    return 0;
}
