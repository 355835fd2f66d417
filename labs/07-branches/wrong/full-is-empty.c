/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 7; hint: full. An index at the base is taken for an empty ring. */
#define lab_path right_lab_path
#include "solution.c" /* what is right */
#undef lab_path

uint32_t lab_path(const struct tracing *t, struct ds_bts_record *path)
{
    if (t->area->bts_index == t->area->bts_buffer_base)
        return 0;
    return right_lab_path(t, path);
}
