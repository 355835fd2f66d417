/* SPDX-License-Identifier: MIT */
/* A right program for lab 3: the spare counter begins at 1000, and events are what it is above that. */
#define lab_start right_start
#define lab_stop  right_stop
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_start
#undef lab_stop

#define FIRST 1000u

int lab_start(const struct sampling *s)
{
    const int e = right_start(s);
    return e ? e : lab_wrmsr(IA32_PMC0 + s->spare, FIRST);
}

uint64_t lab_stop(const struct sampling *s)
{
    uint64_t count = 0;
    (void)lab_rdmsr(IA32_PMC0 + s->spare, &count);
    (void)lab_wrmsr(IA32_PMC0 + s->spare, count - FIRST);
    return right_stop(s);
}
