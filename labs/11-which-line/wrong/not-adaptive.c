/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: adaptive. The groups are chosen, and the counter does not ask for them. */
#define lab_sample right_lab_sample
#include "solution.c" /* what is right */
#undef lab_sample

int lab_sample(const struct lab_sampling *s)
{
    uint64_t select;
    int e = right_lab_sample(s);
    if (!e)
        e = lab_rdmsr(IA32_PERFEVTSEL0 + s->counter, &select);
    return e ? e : lab_wrmsr(IA32_PERFEVTSEL0 + s->counter, select & ~IA32_PERFEVTSEL_ADAPTIVE);
}
