/* SPDX-License-Identifier: MIT */
/* For wrong solutions of lab 9: lab_fold, which takes those stacks for the same that are alike(). */
#define lab_fold right_fold
#include "labs/09-your-profiler/solution.c"
#undef lab_fold

static bool alike(const struct lab_calls *a, const struct lab_calls *b);

void lab_fold(const struct lab_calls *stacks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct lab_calls turned = {.depth = stacks[i].depth};
        uint32_t samples = 0, first = count;
        for (uint32_t j = count; j-- > 0;)
            if (alike(&stacks[i], &stacks[j])) {
                samples++;
                first = j;
            }
        for (uint32_t k = 0; k < turned.depth; k++)
            turned.symbol[k] = stacks[i].symbol[turned.depth - 1 - k];
        if (first == i)
            lab_line(&turned, samples);
    }
}
