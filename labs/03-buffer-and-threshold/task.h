/* SPDX-License-Identifier: MIT */
/* Lab 3: what you write. */
#pragma once

#include "labs/lab.h"

struct sampling {            /* what is to be sampled, and where the records go */
    unsigned counter;        /* number of a general-purpose counter with PEBS: IA32_PMC0 + counter counts */
    unsigned spare;          /* another one. It is yours, and runs whenever the first one does */
    uint64_t event;          /* IA32_PERFEVTSELx[15:0]: unit mask and event select */
    uint64_t period;         /* events until the counter overflows: there is a record for every period + 1 events */
    unsigned width;          /* bits of a counter */
    struct ds_area_a0 *area; /* zeroed; large enough for this processor */
    uint8_t *buffer;         /* for `records` records, at least 3, and not more */
    uint32_t records;
    uint32_t record_bytes; /* bytes of one record */
};

/* The check's. You give it the records, in the order of the buffer, before the processor writes over them. */
void lab_deliver(const uint8_t *records, uint32_t count);

/* Sets up DS area, registers, LVTPC and your handler of the interrupt, so that the processor writes records once the
 * counters run in ring 3. Then programs run, one after the other. `s` stays valid until lab_stop. 0, or the error of
 * the access that raised #GP. */
int lab_start(const struct sampling *s);

/* Called after the programs have run: delivers what the buffer still holds, and leaves the registers that lab_start has
 * written at 0, and LVTPC masked. Returns how many records have been lost since lab_start, exactly. */
uint64_t lab_stop(const struct sampling *s);
