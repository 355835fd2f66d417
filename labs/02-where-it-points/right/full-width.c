/* SPDX-License-Identifier: MIT */
/* A right program for lab 2: where the counter's register has a name that takes all 48 bits, it is set by that. */
#define lab_pmi_start right_pmi_start
#include "labs/02-where-it-points/solution.c"
#undef lab_pmi_start

int lab_pmi_start(unsigned counter, uint64_t event, uint64_t period)
{
    uint64_t capabilities = 0;
    (void)lab_rdmsr(IA32_PERF_CAPABILITIES, &capabilities);
    if (!(capabilities & IA32_PERF_CAPABILITIES_FW_WRITE))
        return right_pmi_start(counter, event, period);
    interrupted = 0;
    lab_on_pmi(on_pmi);
    lab_lvtpc_write(LAB_PMI_VECTOR);
    (void)lab_wrmsr(IA32_A_PMC0 + counter, -period & (DS_BIT(48) - 1));
    return lab_wrmsr(IA32_PERFEVTSEL0 + counter, event | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_INT | IA32_PERFEVTSEL_EN);
}
