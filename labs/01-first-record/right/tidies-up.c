/* SPDX-License-Identifier: MIT */
/* A right program for lab 1: lab_stop reads the index first, and then clears DS area and buffer. */
#define lab_stop right_stop
#include "labs/01-first-record/solution.c"
#undef lab_stop

uint32_t lab_stop(const struct sampling *s)
{
    const uint32_t records = right_stop(s);
    *s->area = (struct ds_area_a0){0};
    for (uint32_t i = 0; i < s->records * s->record_bytes; i++)
        ((volatile uint8_t *)s->buffer)[i] = 0xFF;
    return records;
}
