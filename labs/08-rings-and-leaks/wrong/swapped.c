/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 8; hint: filter. OS and USR are mixed up. */
#define lab_count right_count
#include "labs/08-rings-and-leaks/solution.c"
#undef lab_count

int lab_count(unsigned counter, uint64_t event, unsigned rings)
{
    const unsigned swapped = (rings & LAB_RING_0 ? LAB_RING_3 : 0) | (rings & LAB_RING_3 ? LAB_RING_0 : 0);
    return right_count(counter, event, counter < DS_COUNTER_FIXED ? swapped : rings);
}
