/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 2; hint: int. The counter is started as with PEBS, without INT. */
#define lab_pmi_start right_start
#include "labs/02-where-it-points/solution.c"
#undef lab_pmi_start

int lab_pmi_start(unsigned counter, uint64_t event, uint64_t period)
{
    int e = right_start(counter, event, period);
    return e ? e : lab_wrmsr(IA32_PERFEVTSEL0 + counter, event | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN);
}
