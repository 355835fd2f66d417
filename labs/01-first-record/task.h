/* SPDX-License-Identifier: MIT */
/* Lab 1: what you write. */
#pragma once

#include "labs/lab.h"

struct sampling {            /* what is to be sampled, and where the records go */
    unsigned counter;        /* number of a general-purpose counter: IA32_PMC0 + counter counts */
    uint64_t event;          /* IA32_PERFEVTSELx[15:0]: unit mask and event select */
    uint64_t period;         /* events until the counter overflows */
    unsigned width;          /* bits of a counter */
    struct ds_area_a0 *area; /* zeroed; large enough for this processor */
    uint8_t *buffer;         /* for `records` records */
    uint32_t records;
    uint32_t record_bytes; /* bytes of one record */
};

/* Sets up the DS area and the registers, so that the processor writes records once the counter runs in ring 0. It must
 * raise no interrupt: there is room for all records. 0, or the error of the access that raised #GP. */
int lab_start(const struct sampling *s);

/* Called after the program has run: returns how many records the buffer holds, and leaves the registers that
 * lab_start has written at 0. */
uint32_t lab_stop(const struct sampling *s);
