/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 6; hint: bytes. Closes a batch at each switch between sampled threads. */
#define close_here right
#include "labs/06-whose-sample/solution.c" /* all else is right */
#undef close_here

bool close_here(uint64_t own[OWN_WORDS], const struct moment *m)
{
    (void)own;
    return m->old_sampled && m->new_sampled;
}
