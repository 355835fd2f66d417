/* SPDX-License-Identifier: MIT */
/* A right program for lab 7: lab_visits adds where a run begins and ends, and sums up once. A run that leaves the
 * program, or comes into it, is cut at its ends. */
#define lab_visits right_visits
#include "labs/07-branches/solution.c"
#undef lab_visits

void lab_visits(const struct ds_bts_record *path, uint32_t records, uint64_t begin, uint32_t bytes, uint32_t *visits)
{
    static uint32_t change[4096];
    uint32_t now = 0;
    for (uint32_t i = 0; i <= bytes; i++)
        change[i] = 0;
    for (uint32_t i = 1; i < records; i++) {
        const uint64_t first = path[i - 1].to < begin ? begin : path[i - 1].to;
        const uint64_t end = path[i].from >= begin + bytes ? begin + bytes : path[i].from + 1;
        if (first >= end)
            continue;
        change[first - begin]++;
        change[end - begin]--;
    }
    for (uint32_t i = 0; i < bytes; i++)
        visits[i] += now += change[i];
}
