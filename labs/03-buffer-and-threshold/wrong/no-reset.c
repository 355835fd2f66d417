/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 3; hint: period. The counter starts at -period, but the DS area has no reset value for it. */
#define lab_start right_start
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_start

int lab_start(const struct sampling *s)
{
    const int e = right_start(s);
    s->area->pebs_gp_counter_reset[s->counter] = 0;
    return e;
}
