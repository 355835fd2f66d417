/* SPDX-License-Identifier: MIT */
/* A right program for lab 1: the maximum is as far behind the end as it may be, and both rings are counted. */
#define lab_start right_start
#include "labs/01-first-record/solution.c"
#undef lab_start

int lab_start(const struct sampling *s)
{
    const int e = right_start(s);
    s->area->pebs_absolute_maximum += s->record_bytes - 2;
    return e ? e
             : lab_wrmsr(IA32_PERFEVTSEL0 + s->counter,
                         s->event | IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN);
}
