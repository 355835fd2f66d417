/* SPDX-License-Identifier: MIT */
/* A right program for lab 3: the handler turns all counters off before it drains, and on again. */
#define lab_start right_start
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_start

static void other_on_pmi(const struct arch_trap_frame *frame)
{
    uint64_t global = 0;
    (void)lab_rdmsr(IA32_PERF_GLOBAL_CTRL, &global);
    (void)lab_wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
    on_pmi(frame);
    (void)lab_wrmsr(IA32_PERF_GLOBAL_CTRL, global);
}

int lab_start(const struct sampling *s)
{
    const int e = right_start(s);
    lab_on_pmi(other_on_pmi);
    return e;
}
