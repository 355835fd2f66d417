/* SPDX-License-Identifier: MIT */
/* A right program for lab 2: the counter is selected first, and gets its value and LVTPC after that. */
#define lab_pmi_start right_pmi_start
#include "labs/02-where-it-points/solution.c"
#undef lab_pmi_start

int lab_pmi_start(unsigned counter, uint64_t event, uint64_t period)
{
    const uint64_t select = event | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_INT | IA32_PERFEVTSEL_OS;
    int e = lab_wrmsr(IA32_PERFEVTSEL0 + counter, select | IA32_PERFEVTSEL_USR);
    e = e ? e : lab_wrmsr(IA32_PMC0 + counter, (uint32_t)~period + 1);
    interrupted = 0;
    lab_lvtpc_write(LAB_PMI_VECTOR);
    lab_on_pmi(on_pmi);
    return e;
}
