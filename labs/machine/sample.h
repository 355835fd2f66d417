/* SPDX-License-Identifier: MIT */
/* Sampling with PEBS for the checks of labs, one record at a time. */
#pragma once

#include "labs/lab.h"

struct lab_sample {
    unsigned counter; /* as in IA32_PERF_GLOBAL_CTRL: a general-purpose one, or fixed counter 0 */
    uint64_t event;   /* of a general-purpose counter: IA32_PERFEVTSELx[15:0] */
    uint64_t period;  /* events until it overflows */
    uint64_t groups;  /* of the record: MSR_PEBS_DATA_CFG; 0 with formats below 4 */
    bool user;        /* counts in ring 3; else in ring 0 */
};

/* Then a program may run, with the counter's bit. Fails the lab if there is no memory. */
void lab_sample_begin(const struct lab_sample *sample);
/* PEBS is off. The record, which stays until the next lab_sample_begin; NULL: none has come. */
uint8_t *lab_sample_end(const struct lab_sample *sample);

/* IA32_PERF_CAPABILITIES.PEBS_FMT */
unsigned lab_format(void);

/* Fails the lab if lab_start has left a counter on. Such a counter moves the index and its own value, so that all else
 * looks wrong, too. */
void lab_check_counters_off(void);
