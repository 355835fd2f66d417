/* SPDX-License-Identifier: MIT */
/* A right program for lab 8: lab_count turns the counter off before it sets its value, and then on for each ring. */
#define lab_count right_count
#include "labs/08-rings-and-leaks/solution.c"
#undef lab_count

static int change(uint32_t msr, uint64_t clear, uint64_t set)
{
    uint64_t value = 0;
    const int e = lab_rdmsr(msr, &value);
    return e ? e : lab_wrmsr(msr, (value & ~clear) | set);
}

int lab_count(unsigned counter, uint64_t event, unsigned rings)
{
    const bool fixed = counter >= DS_COUNTER_FIXED;
    const unsigned i = fixed ? counter - DS_COUNTER_FIXED : counter;
    const uint32_t select = fixed ? IA32_FIXED_CTR_CTRL : IA32_PERFEVTSEL0 + i;
    int e = change(select, fixed ? UINT64_C(0xF) << 4 * i : UINT64_MAX, 0);
    if (!e)
        e = lab_wrmsr((fixed ? IA32_FIXED_CTR0 : IA32_PMC0) + i, 0);
    if (!e && !fixed)
        e = change(select, 0, event | IA32_PERFEVTSEL_EN);
    if (!e && rings & LAB_RING_3)
        e = change(select, 0, fixed ? ia32_fixed_ctr_ctrl_usr(i) : IA32_PERFEVTSEL_USR);
    if (!e && rings & LAB_RING_0)
        e = change(select, 0, fixed ? ia32_fixed_ctr_ctrl_os(i) : IA32_PERFEVTSEL_OS);
    return e;
}
