/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: baseline. The bits of load latency on every processor: with PEBS_BASELINE they are
 * fixed counters. */
#define lab_sample right_lab_sample
#include "solution.c" /* what is right */
#undef lab_sample

int lab_sample(const struct lab_sampling *s)
{
    const int e = right_lab_sample(s);
    return e || !s->threshold || s->counter > 2 ? e : set_bits(IA32_PEBS_ENABLE, DS_BIT(32 + s->counter));
}
