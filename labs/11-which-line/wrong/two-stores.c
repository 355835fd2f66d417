/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: true. Both processors have to store to one address: a reader does not count. */
#define lab_shared right_lab_shared
#include "solution.c" /* what is right */
#undef lab_shared

enum lab_sharing lab_shared(const struct lab_access *accesses, uint32_t count, uint64_t line)
{
    const enum lab_sharing sharing = right_lab_shared(accesses, count, line);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (line_of(accesses[i].address) == line && accesses[i].address == accesses[j].address &&
                accesses[i].cpu != accesses[j].cpu && accesses[i].store && accesses[j].store)
                return LAB_TRUE_SHARING;
    return sharing == LAB_TRUE_SHARING ? LAB_FALSE_SHARING : sharing;
}
