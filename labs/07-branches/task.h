/* SPDX-License-Identifier: MIT */
/* Lab 7: what you write. */
#pragma once

#include "labs/lab.h"

struct tracing {                /* where the branch records go */
    struct ds_area_a0 *area;    /* zeroed */
    struct ds_bts_record *ring; /* zeroed; `records` of them */
    uint32_t records;
};

/* Sets up the BTS fields of the DS area and IA32_DS_AREA: a ring that keeps the newest records and raises no interrupt.
 * Returns the value of IA32_DEBUGCTL with which the program is to run. The check writes it just before the program, and
 * 0 after it, so that your own branches are not recorded. */
uint64_t lab_start(const struct tracing *t);

/* Called after the program has run: copies the records of the ring to `path`, the oldest first, and returns how many.
 * `path` has room for t->records. */
uint32_t lab_path(const struct tracing *t, struct ds_bts_record *path);

/* Adds to visits[i], for each byte i of the program, how often the path has passed that byte. The program is `bytes`
 * long and begins at the address `begin`. In the instruction of a branch, which may be several bytes long, only the
 * first byte has to be counted. What the path does outside the program is not counted. */
void lab_visits(const struct ds_bts_record *path, uint32_t records, uint64_t begin, uint32_t bytes, uint32_t *visits);
