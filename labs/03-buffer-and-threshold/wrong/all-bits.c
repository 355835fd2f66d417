/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 3; hint: acknowledge. Writes all bits to IA32_PERF_GLOBAL_OVF_CTRL, also reserved ones: #GP.
 */
#define lab_start right_start
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_start

static void wrong_on_pmi(const struct arch_trap_frame *frame)
{
    (void)frame, (void)on_pmi;
    drain();
    (void)lab_wrmsr(IA32_PERF_GLOBAL_OVF_CTRL, UINT64_MAX);
    lab_lvtpc_write(LAB_PMI_VECTOR);
}

int lab_start(const struct sampling *s)
{
    const int e = right_start(s);
    lab_on_pmi(wrong_on_pmi);
    return e;
}
