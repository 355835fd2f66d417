/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 9; hint: outermost. The lines have the order of the stacks. */
#define lab_fold right_lab_fold
#include "solution.c" /* what is right */
#undef lab_fold

void lab_fold(const struct lab_calls *stacks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t samples = 0, first = count;
        for (uint32_t j = count; j-- > 0;)
            if (same(&stacks[i], &stacks[j])) {
                samples++;
                first = j;
            }
        if (first == i)
            lab_line(&stacks[i], samples);
    }
}
