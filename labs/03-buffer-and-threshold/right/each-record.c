/* SPDX-License-Identifier: MIT */
/* A right program for lab 3: the threshold is at the first record: an interrupt for each. */
#define lab_start right_start
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_start

int lab_start(const struct sampling *s)
{
    const int e = right_start(s);
    s->area->pebs_interrupt_threshold = s->area->pebs_buffer_base + s->record_bytes;
    return e;
}
