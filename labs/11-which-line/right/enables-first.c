/* SPDX-License-Identifier: MIT */
/* A right program for lab 11: lab_sample writes its registers from the last to the first. */
#define lab_sample right_sample
#include "labs/11-which-line/solution.c"
#undef lab_sample

int lab_sample(const struct lab_sampling *s)
{
    const bool adaptive = s->format >= 4;
    uint64_t enable, groups = 0;
    if (lab_rdmsr(IA32_PEBS_ENABLE, &enable) != 0 || (adaptive && lab_rdmsr(MSR_PEBS_DATA_CFG, &groups) != 0))
        return -1;
    (void)lab_wrmsr(IA32_PEBS_ENABLE,
                    enable | DS_BIT(s->counter) | (s->threshold && !adaptive ? DS_BIT(s->counter + 32) : 0));
    if (adaptive)
        (void)lab_wrmsr(MSR_PEBS_DATA_CFG, groups | MSR_PEBS_DATA_CFG_MEMINFO);
    if (s->threshold)
        (void)lab_wrmsr(MSR_PEBS_LD_LAT, s->threshold);
    (void)lab_wrmsr(IA32_PMC0 + s->counter, (uint32_t)-s->period);
    return lab_wrmsr(IA32_PERFEVTSEL0 + s->counter,
                     s->event | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN | (adaptive ? IA32_PERFEVTSEL_ADAPTIVE : 0));
}
