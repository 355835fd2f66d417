/* SPDX-License-Identifier: MIT */
/* A right program for lab 2: the handler acknowledges the counter, and takes itself away. */
#define lab_pmi_start right_pmi_start
#include "labs/02-where-it-points/solution.c"
#undef lab_pmi_start

static volatile unsigned number;

static void once(const struct arch_trap_frame *frame)
{
    on_pmi(frame);
    (void)lab_wrmsr(IA32_PERFEVTSEL0 + number, 0);
    (void)lab_wrmsr(IA32_PERF_GLOBAL_OVF_CTRL, DS_BIT(number));
    lab_on_pmi(NULL);
}

int lab_pmi_start(unsigned counter, uint64_t event, uint64_t period)
{
    const int e = right_pmi_start(counter, event, period);
    number = counter;
    lab_on_pmi(once);
    return e;
}
