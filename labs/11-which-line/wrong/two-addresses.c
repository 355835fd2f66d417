/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: alone. Two addresses of a line that somebody stores into are shared falsely,
 * whoever uses them. */
#define lab_shared right_lab_shared
#include "solution.c" /* what is right */
#undef lab_shared

enum lab_sharing lab_shared(const struct lab_access *accesses, uint32_t count, uint64_t line)
{
    const enum lab_sharing sharing = right_lab_shared(accesses, count, line);
    bool stored = false, others = false;
    uint64_t first = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (line_of(accesses[i].address) != line)
            continue;
        stored |= accesses[i].store;
        first = first ? first : accesses[i].address;
        others |= accesses[i].address != first;
    }
    return sharing == LAB_NOT_SHARED && stored && others ? LAB_FALSE_SHARING : sharing;
}
