/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 7; hint: order. All records are there, but as they lie in the ring. */
#define lab_path right_lab_path
#include "solution.c" /* what is right */
#undef lab_path

uint32_t lab_path(const struct tracing *t, struct ds_bts_record *path)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->records; i++)
        if (written(&t->ring[i]))
            path[n++] = t->ring[i];
    return n;
}
