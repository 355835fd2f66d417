/* SPDX-License-Identifier: MIT */
/* Lab 2: the check's own sampling with PEBS, one record a run. */
#pragma once

#include "labs/lab.h"

struct lab_counter {
    unsigned number; /* as in IA32_PERF_GLOBAL_CTRL */
    uint64_t event;  /* of a general-purpose counter */
    bool pdist;      /* the event that overflows is recorded; else the next one */
    const char *name;
};

/* The counters and events that PEBS has here for retired instructions. Returns how many. */
uint32_t lab_counters(unsigned format, struct lab_counter out[2]);

unsigned lab_format(void);

/* Runs the program with `counter` overflowing after `period` instructions. The record, of `groups` with format 4; NULL:
 * there is none. Valid until the next call. */
const uint8_t *lab_sample(const struct lab_counter *counter, uint64_t period, uint64_t groups, lab_program *program);
