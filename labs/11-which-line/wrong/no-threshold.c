/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: threshold. Every load is slow enough: MSR_PEBS_LD_LAT stays 0. */
#define lab_sample right_lab_sample
#include "solution.c" /* what is right */
#undef lab_sample

int lab_sample(const struct lab_sampling *s)
{
    const int e = right_lab_sample(s);
    return e || !s->threshold ? e : lab_wrmsr(MSR_PEBS_LD_LAT, 0);
}
