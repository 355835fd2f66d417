/* SPDX-License-Identifier: MIT */
/* A right program for lab 6: close_here keeps its state in the last words of its own memory. */
#define close_here right_close_here
#include "labs/06-whose-sample/solution.c"
#undef close_here

bool close_here(uint64_t own[OWN_WORDS], const struct moment *m)
{
    static struct view copy; /* the state is in `own` between two calls */
    uint64_t *words = (uint64_t *)&copy;
    const uint32_t count = sizeof copy / sizeof *words;
    for (uint32_t i = 0; i < count; i++)
        words[i] = own[OWN_WORDS - 1 - i];
    const bool close = right_close_here(words, m);
    for (uint32_t i = 0; i < count; i++)
        own[OWN_WORDS - 1 - i] = words[i];
    return close;
}
