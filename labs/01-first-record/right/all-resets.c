/* SPDX-License-Identifier: MIT */
/* A right program for lab 1: every reset value is filled in, and the area is assigned as a whole. */
#define lab_start right_start
#include "labs/01-first-record/solution.c"
#undef lab_start

int lab_start(const struct sampling *s)
{
    struct ds_area_a0 area = {.pebs_buffer_base = (uintptr_t)s->buffer,
                              .pebs_index = (uintptr_t)s->buffer,
                              .pebs_interrupt_threshold = UINT64_MAX};
    for (unsigned i = 0; i < 4; i++)
        area.pebs_gp_counter_reset[i] = start_value(s);
    const int e = right_start(s);
    area.pebs_absolute_maximum = s->area->pebs_absolute_maximum;
    *s->area = area;
    return e;
}
