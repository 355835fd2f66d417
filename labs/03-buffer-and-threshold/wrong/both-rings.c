/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 3; hint: ring. Ring 0 is counted, too. */
#define lab_start right_start
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_start

int lab_start(const struct sampling *s)
{
    const int e = right_start(s);
    return e ? e : lab_wrmsr(IA32_PERFEVTSEL0 + s->counter, s->event | USR | IA32_PERFEVTSEL_OS);
}
