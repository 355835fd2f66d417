/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 7; hint: number. The map says whether a byte has run, not how often. */
#define lab_visits right_lab_visits
#include "solution.c" /* what is right */
#undef lab_visits

void lab_visits(const struct ds_bts_record *path, uint32_t records, uint64_t begin, uint32_t bytes, uint32_t *visits)
{
    right_lab_visits(path, records, begin, bytes, visits);
    for (uint32_t i = 0; i < bytes; i++)
        visits[i] = visits[i] != 0;
}
