/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: load-latency. The event alone turns no load latency on. */
#define lab_sample right_lab_sample
#include "solution.c" /* what is right */
#undef lab_sample

int lab_sample(const struct lab_sampling *s)
{
    struct lab_sampling without = *s;
    const int e = s->threshold ? lab_wrmsr(MSR_PEBS_LD_LAT, s->threshold) : 0;
    without.threshold = 0;
    return e ? e : right_lab_sample(&without);
}
