/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 1; hint: global. Turns the counter on, which is the check's part. */
#define lab_start right_start
#include "labs/01-first-record/solution.c"
#undef lab_start

int lab_start(const struct sampling *s)
{
    int e = right_start(s);
    return e ? e : lab_wrmsr(IA32_PERF_GLOBAL_CTRL, DS_BIT(s->counter));
}
