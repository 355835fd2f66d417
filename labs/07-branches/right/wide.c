/* SPDX-License-Identifier: MIT */
/* A right program for lab 7: the maximum is as far behind the end as it may be, the area is assigned as a whole, and
 * the processor is told to leave out ring 3 as well. */
#define lab_start right_start
#include "labs/07-branches/solution.c"
#undef lab_start

uint64_t lab_start(const struct tracing *t)
{
    const uint64_t ring = (uintptr_t)t->ring;
    *t->area = (struct ds_area_a0){.bts_buffer_base = ring,
                                   .bts_index = ring,
                                   .bts_absolute_maximum = ring + (t->records + 1) * sizeof *t->ring - 1,
                                   .bts_interrupt_threshold = UINT64_MAX};
    if (lab_wrmsr(IA32_DS_AREA, (uintptr_t)t->area) != 0)
        return 0;
    return IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS | IA32_DEBUGCTL_BTS_OFF_USR;
}
