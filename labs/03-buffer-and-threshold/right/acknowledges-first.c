/* SPDX-License-Identifier: MIT */
/* A right program for lab 3: OvfBuf is cleared before the drain, and LVTPC after it. */
#define lab_start right_start
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_start

static void other_on_pmi(const struct arch_trap_frame *frame)
{
    (void)frame, (void)on_pmi;
    (void)lab_wrmsr(IA32_PERF_GLOBAL_OVF_CTRL, IA32_PERF_GLOBAL_STATUS_OVF_BUF);
    drain();
    lab_lvtpc_write(LVTPC_MASKED | LAB_PMI_VECTOR);
    lab_lvtpc_write(LAB_PMI_VECTOR);
}

int lab_start(const struct sampling *s)
{
    const int e = right_start(s);
    lab_on_pmi(other_on_pmi);
    return e;
}
