/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 2; hint: stale. The address of an earlier interrupt is still there. */
#define lab_pmi_stop right_stop
#include "labs/02-where-it-points/solution.c"
#undef lab_pmi_stop

uint64_t lab_pmi_stop(unsigned counter)
{
    static uint64_t last;
    const uint64_t now = right_stop(counter);
    last = now ? now : last;
    return last;
}
