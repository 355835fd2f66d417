/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 7; hint: wrapped. The path ends at the index, as if the processor had never gone round. */
#define lab_path right_lab_path
#include "solution.c" /* what is right */
#undef lab_path

uint32_t lab_path(const struct tracing *t, struct ds_bts_record *path)
{
    const uint32_t next = (uint32_t)((t->area->bts_index - t->area->bts_buffer_base) / sizeof *path);
    for (uint32_t i = 0; i < next; i++)
        path[i] = t->ring[i];
    return next;
}
