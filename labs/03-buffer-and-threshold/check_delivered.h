/* SPDX-License-Identifier: MIT */
/* Lab 3: what the student's code delivers. */
#pragma once

#include "task.h"

#define LAB_PERIOD_HINT                                                                                                \
    "With a period N there is a record for every N + 1 events, from the first on: the counter's first value and its "  \
    "reset value in the DS area are both -N. Nothing but PEBS may reload it meanwhile."

/* Begins anew: the records are of these settings. */
void lab_expect(const struct sampling *s);
/* Before each run of the program, at most three. */
void lab_expect_run(void);
/* Records that were delivered since lab_expect. */
uint32_t lab_delivered(void);
/* Fails the lab if a record came twice, out of order, or was none. To be called outside the handler. */
void lab_check_delivered(void);
