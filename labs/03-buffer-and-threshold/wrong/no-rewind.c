/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 3; hint: twice. The drain leaves the index where it is. */
#define lab_start right_start
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_start

static void wrong_on_pmi(const struct arch_trap_frame *frame)
{
    const uint64_t index = now->area->pebs_index;
    on_pmi(frame);
    now->area->pebs_index = index;
}

int lab_start(const struct sampling *s)
{
    const int e = right_start(s);
    lab_on_pmi(wrong_on_pmi);
    return e;
}
