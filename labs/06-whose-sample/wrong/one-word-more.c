/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 6; hint: memory. Uses the word behind its own memory. */
#define close_here right_close_here
#include "labs/06-whose-sample/solution.c"
#undef close_here

bool close_here(uint64_t own[OWN_WORDS], const struct moment *m)
{
    own[OWN_WORDS]++;
    return right_close_here(own, m);
}
