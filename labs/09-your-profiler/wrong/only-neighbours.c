/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 9; hint: merged. Only equal stacks that follow each other become one line. */
#define lab_fold right_lab_fold
#include "solution.c" /* what is right */
#undef lab_fold

void lab_fold(const struct lab_calls *stacks, uint32_t count)
{
    for (uint32_t first = 0, end; first < count; first = end) {
        struct lab_calls turned = {.depth = stacks[first].depth};
        for (end = first + 1; end < count && same(&stacks[end], &stacks[first]);)
            end++;
        for (uint32_t k = 0; k < turned.depth; k++)
            turned.symbol[k] = stacks[first].symbol[turned.depth - 1 - k];
        lab_line(&turned, end - first);
    }
}
