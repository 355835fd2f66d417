/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 1; hint: outside. Clears 64 bytes more than the buffer has. */
#define lab_start right_start
#include "labs/01-first-record/solution.c"
#undef lab_start

int lab_start(const struct sampling *s)
{
    for (uint32_t i = 0; i < s->records * s->record_bytes + 64; i++)
        ((volatile uint8_t *)s->buffer)[i] = 0;
    return right_start(s);
}
