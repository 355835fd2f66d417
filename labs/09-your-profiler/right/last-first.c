/* SPDX-License-Identifier: MIT */
/* A right program for lab 9: lab_fold begins at the last stack, and gives a line of its own memory each time. */
#define lab_fold right_fold
#include "labs/09-your-profiler/solution.c"
#undef lab_fold

void lab_fold(const struct lab_calls *stacks, uint32_t count)
{
    static struct lab_calls line;
    for (uint32_t i = count; i-- > 0;) {
        uint32_t samples = 1, j = 0;
        for (j = i + 1; j < count && !same(&stacks[i], &stacks[j]); j++)
            ;
        if (j < count)
            continue;
        for (j = 0; j < i; j++)
            samples += same(&stacks[i], &stacks[j]);
        line = (struct lab_calls){.depth = stacks[i].depth};
        for (uint32_t k = line.depth; k-- > 0;)
            line.symbol[line.depth - 1 - k] = stacks[i].symbol[k];
        lab_line(&line, samples);
    }
}
