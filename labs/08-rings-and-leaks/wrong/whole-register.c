/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 8; hint: neighbour. IA32_FIXED_CTR_CTRL is written as if it belonged to one counter. */
#define lab_count right_count
#include "labs/08-rings-and-leaks/solution.c"
#undef lab_count

int lab_count(unsigned counter, uint64_t event, unsigned rings)
{
    int e = right_count(counter, event, rings);
    uint64_t control;
    if (e || counter < DS_COUNTER_FIXED)
        return e;
    (void)lab_rdmsr(IA32_FIXED_CTR_CTRL, &control);
    return lab_wrmsr(IA32_FIXED_CTR_CTRL, control & UINT64_C(0xF) << 4 * (counter - DS_COUNTER_FIXED));
}
