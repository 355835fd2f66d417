/* SPDX-License-Identifier: MIT */
/* A right program for lab 2: lab_before looks from the end, and lab_skid keeps the earliest place. */
#define lab_before right_before
#define lab_skid   right_skid
#include "labs/02-where-it-points/solution.c"
#undef lab_before
#undef lab_skid

uint64_t lab_before(const struct lab_path *path, uint64_t rip)
{
    uint64_t before = 0;
    for (uint32_t i = path->count; i-- > 1;)
        if (path->instruction[i] == rip) {
            if (before && path->instruction[i - 1] != before)
                return 0;
            before = path->instruction[i - 1];
        }
    return before;
}

int32_t lab_skid(const struct lab_path *path, uint32_t event, uint64_t address)
{
    int32_t skid = -1;
    for (uint32_t i = path->count; i-- > event;)
        if (path->instruction[i] == address)
            skid = (int32_t)(i - event);
    return skid;
}
