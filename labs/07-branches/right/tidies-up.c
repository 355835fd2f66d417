/* SPDX-License-Identifier: MIT */
/* A right program for lab 7: lab_path takes the DS area away, and clears it and the ring, when it has the records. */
#define lab_path right_path
#include "labs/07-branches/solution.c"
#undef lab_path

uint32_t lab_path(const struct tracing *t, struct ds_bts_record *path)
{
    const uint32_t n = right_path(t, path);
    (void)lab_wrmsr(IA32_DS_AREA, 0);
    *t->area = (struct ds_area_a0){0};
    for (uint32_t i = 0; i < t->records; i++)
        t->ring[i] = (struct ds_bts_record){0};
    return n;
}
