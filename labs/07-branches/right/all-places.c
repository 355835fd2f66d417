/* SPDX-License-Identifier: MIT */
/* A right program for lab 7: one loop over all places of the ring, from the index on, leaves out those without an
 * address. */
#define lab_path right_path
#include "labs/07-branches/solution.c"
#undef lab_path

uint32_t lab_path(const struct tracing *t, struct ds_bts_record *path)
{
    const struct ds_bts_record *next = (const struct ds_bts_record *)t->area->bts_index;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->records; i++) {
        const struct ds_bts_record *record = &t->ring[((uint32_t)(next - t->ring) + i) % t->records];
        if (record->from != 0)
            path[n++] = *record;
    }
    return n;
}
