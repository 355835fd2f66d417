/* SPDX-License-Identifier: MIT */
/*
 * Lab 7: your code. README.md has the task. Run it with: make lab N=7
 */
#include "task.h"

uint64_t lab_start(const struct tracing *t)
{
    (void)t; /* remove this line */
    return 0;
}

uint32_t lab_path(const struct tracing *t, struct ds_bts_record *path)
{
    (void)t, (void)path; /* remove this line */
    return 0;
}

void lab_visits(const struct ds_bts_record *path, uint32_t records, uint64_t begin, uint32_t bytes, uint32_t *visits)
{
    (void)path, (void)records, (void)begin, (void)bytes, (void)visits; /* remove this line */
}
