/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 3; hint: lost-count. A record for every period, and not for period + 1. */
#define lab_stop right_stop
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_stop

uint64_t lab_stop(const struct sampling *s)
{
    uint64_t events = 0;
    (void)lab_rdmsr(IA32_PMC0 + s->spare, &events);
    (void)right_stop(s);
    return events / s->period - delivered;
}
