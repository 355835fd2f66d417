/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 2; hint: skid. Looks at one instruction more than the path has. */
#define lab_skid right_skid
#include "labs/02-where-it-points/solution.c"
#undef lab_skid

int32_t lab_skid(const struct lab_path *path, uint32_t event, uint64_t address)
{
    for (uint32_t i = event; i <= path->count; i++)
        if (path->instruction[i] == address)
            return (int32_t)(i - event);
    return -1;
}
