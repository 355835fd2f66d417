/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 2; hint: lvtpc. LVTPC is written once, but each interrupt masks it. */
#define lab_pmi_start right_start
#include "labs/02-where-it-points/solution.c"
#undef lab_pmi_start

int lab_pmi_start(unsigned counter, uint64_t event, uint64_t period)
{
    static bool written;
    int e = right_start(counter, event, period);
    if (written)
        lab_lvtpc_write(LVTPC_MASKED | LAB_PMI_VECTOR);
    written = true;
    return e;
}
