/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: read-only. Two processors are enough: nobody has to store. */
#define lab_shared right_lab_shared
#include "solution.c" /* what is right */
#undef lab_shared

enum lab_sharing lab_shared(const struct lab_access *accesses, uint32_t count, uint64_t line)
{
    const enum lab_sharing sharing = right_lab_shared(accesses, count, line);
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (line_of(accesses[i].address) != line)
            continue;
        if (first == UINT32_MAX)
            first = accesses[i].cpu;
        if (accesses[i].cpu != first && sharing == LAB_NOT_SHARED)
            return LAB_FALSE_SHARING;
    }
    return sharing;
}
