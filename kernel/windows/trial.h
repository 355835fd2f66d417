/* SPDX-License-Identifier: MIT */
/* What the trials of workload `control` have in common: a request, the expected answer, a verdict for each. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/windows/sysinfo.h"

struct ktrial {
    char name[48]; /* of the verdict */
    uint32_t asked;
    bool failed;
    char why[160]; /* of the first failure */
};

void ktrial_begin(struct ktrial *t, const char *name);
void ktrial_fail(struct ktrial *t, const char *what, unsigned long got, unsigned long want);
/* One answer: fails unless it is `want`. */
void ktrial_expect(struct ktrial *t, const char *what, uint64_t got, uint64_t want);
/* The verdict, on the console. */
void ktrial_end(const struct ktrial *t);

/* ---- class 1FH --------------------------------------------------------------------------------------------------- */

kntstatus ktrial_query(void *information, uint32_t length);
kntstatus ktrial_set(void *information, uint32_t length);

/* Loggers that do not run, one for each `i` below KTRIAL_NOBODIES. Session 8 may. */
uint64_t ktrial_nobody(unsigned i);
#define KTRIAL_NOBODIES 5u

struct ktrial_list {
    struct event_trace_list_information head;
    uint32_t element[6];
};

/* With so many elements. */
uint32_t ktrial_list_bytes(unsigned elements);

/* ProfileCounterList and ProfileEventList, on the last session that stays: kernel/windows/pmc_trial.c. */
void ktrial_items(struct ktrial *t);
