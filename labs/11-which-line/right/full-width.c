/* SPDX-License-Identifier: MIT */
/* A right program for lab 11: it sets counters by that name of their registers which takes all bits. */
#define lab_sample right_sample
#include "labs/11-which-line/solution.c"
#undef lab_sample

int lab_sample(const struct lab_sampling *s)
{
    const bool adaptive = s->format >= 4;
    if (s->threshold)
        (void)lab_wrmsr(MSR_PEBS_LD_LAT, s->threshold);
    if (adaptive)
        (void)set_bits(MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_MEMINFO);
    (void)set_bits(IA32_PEBS_ENABLE, DS_BIT(s->counter) | (s->threshold && !adaptive ? DS_BIT(s->counter + 32) : 0));
    (void)lab_wrmsr(IA32_A_PMC0 + s->counter, -s->period & (DS_BIT(s->width) - 1));
    return lab_wrmsr(IA32_PERFEVTSEL0 + s->counter,
                     s->event | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN | (adaptive ? IA32_PERFEVTSEL_ADAPTIVE : 0));
}
