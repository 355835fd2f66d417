/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 3; hint: unmask. The handler does not unmask LVTPC. */
#define lab_start right_start
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_start

static void wrong_on_pmi(const struct arch_trap_frame *frame)
{
    on_pmi(frame);
    lab_lvtpc_write(LVTPC_MASKED | LAB_PMI_VECTOR);
}

int lab_start(const struct sampling *s)
{
    const int e = right_start(s);
    lab_on_pmi(wrong_on_pmi);
    return e;
}
