/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: threshold. The counter of stores takes the threshold away from that of loads. */
#define lab_sample right_lab_sample
#include "solution.c" /* what is right */
#undef lab_sample

int lab_sample(const struct lab_sampling *s)
{
    const int e = right_lab_sample(s);
    return e ? e : lab_wrmsr(MSR_PEBS_LD_LAT, s->threshold);
}
