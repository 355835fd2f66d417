/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 3; hint: rest. What lies below the threshold at the end is thrown away. */
#define lab_stop right_stop
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_stop

uint64_t lab_stop(const struct sampling *s)
{
    s->area->pebs_index = s->area->pebs_buffer_base;
    return right_stop(s);
}
