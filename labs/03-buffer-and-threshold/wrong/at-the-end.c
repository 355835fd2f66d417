/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 3; hint: margin. The threshold is the end of the buffer. */
#define lab_start right_start
#include "labs/03-buffer-and-threshold/solution.c"
#undef lab_start

int lab_start(const struct sampling *s)
{
    const int e = right_start(s);
    s->area->pebs_interrupt_threshold = s->area->pebs_absolute_maximum - 1;
    return e;
}
