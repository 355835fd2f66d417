/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 3; hint: global. Turns the counters on, which is the check's part. */
#define lab_start right_start
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_start

int lab_start(const struct sampling *s)
{
    const int e = right_start(s);
    return e ? e : lab_wrmsr(IA32_PERF_GLOBAL_CTRL, DS_BIT(s->counter) | DS_BIT(s->spare));
}
