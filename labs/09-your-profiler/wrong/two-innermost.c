/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 9; hint: samples. Only the two innermost functions are compared. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* of the name below */
#define lab_fold right_fold
#include "labs/09-your-profiler/solution.c"
#undef lab_fold

static bool alike(const struct lab_calls *a, const struct lab_calls *b)
{
    return a->depth == b->depth && a->symbol[0] == b->symbol[0] && (a->depth < 2 || a->symbol[1] == b->symbol[1]);
}

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
