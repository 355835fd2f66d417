/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 2; hint: stale. The handler keeps the first address for ever. */
#define lab_pmi_stop right_pmi_stop
#include "labs/02-where-it-points/solution.c"
#undef lab_pmi_stop

uint64_t lab_pmi_stop(unsigned counter)
{
    static uint64_t first;
    const uint64_t rip = right_pmi_stop(counter);
    first = first ? first : rip;
    return rip ? first : 0;
}
