/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: neighbour. IA32_PEBS_ENABLE has the bits of the last counter alone. */
#define lab_sample right_lab_sample
#include "solution.c" /* what is right */
#undef lab_sample

int lab_sample(const struct lab_sampling *s)
{
    (void)lab_wrmsr(IA32_PEBS_ENABLE, 0);
    return right_lab_sample(s);
}
