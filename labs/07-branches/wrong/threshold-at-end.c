/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 7; hint: threshold. The threshold is at the end of the ring, where the index comes by. */
#define lab_start right_lab_start
#include "solution.c" /* what is right */
#undef lab_start

uint64_t lab_start(const struct tracing *t)
{
    const uint64_t debugctl = right_lab_start(t);
    t->area->bts_interrupt_threshold = t->area->bts_absolute_maximum;
    return debugctl;
}
