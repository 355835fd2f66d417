/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 7; hint: branch. A range ends before the branch. */
#define lab_visits right_lab_visits
#include "solution.c" /* what is right */
#undef lab_visits

void lab_visits(const struct ds_bts_record *path, uint32_t records, uint64_t begin, uint32_t bytes, uint32_t *visits)
{
    for (uint32_t i = 0; i + 1 < records; i++) {
        const uint64_t first = path[i].to - begin, last = path[i + 1].from - begin;
        for (uint64_t at = first; first < bytes && last < bytes && at < last; at++)
            visits[at]++;
    }
}
