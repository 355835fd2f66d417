/* SPDX-License-Identifier: MIT */
/* Lab 10: what you write, and the trials that you make with it. */
#pragma once

#include "labs/lab.h"

#define LAB_UNKNOWN UINT64_MAX
#define LAB_TRIALS  128u /* the most that one measurement may make */

struct lab_machine; /* some are made up, and one is this machine; they look the same from here */

struct lab_trial {    /* what one run of the machine's program has shown */
    uint64_t ticks;   /* how long it took, by the machine's clock */
    uint64_t result;  /* what the program has computed */
    uint64_t samples; /* without tracing: 0 */
    uint64_t lost;    /* samples that did not fit into the buffer. LAB_UNKNOWN: the machine cannot tell */
};

/* Runs the machine's program once, with tracing or without. */
struct lab_trial lab_run_trial(struct lab_machine *machine, bool traced);

enum lab_cost { LAB_NOT_SEEN, LAB_SLOWER, LAB_FASTER };
enum lab_result { LAB_SAME, LAB_CHANGED, LAB_CANNOT_TELL };

struct lab_report {
    /* By how many ticks tracing makes a run longer. An interval that contains the true number in about 95 of 100
     * measurements, and is no wider than needed. */
    int64_t low, high;
    /* What the interval says: all of it is above 0, all of it is below 0, or neither. */
    enum lab_cost cost;
    /* What tracing does to the program's result. LAB_CANNOT_TELL: not all untraced runs have the same result. Otherwise
     * LAB_CHANGED if at least one traced run has another result. */
    enum lab_result result;
    /* Of all traced runs. LAB_UNKNOWN if not all of them are known. */
    uint64_t samples, lost;
};

/* Measures what tracing costs and changes on the machine. */
void lab_measure(struct lab_machine *machine, struct lab_report *report);
