/* SPDX-License-Identifier: MIT */
/* What Intel's lists of events say of each kind of core. tools/events.py makes the table from ds/events. */
#pragma once

#include "ds/ds.h"

struct ds_event_data { /* all 0: there is no such event */
    uint64_t select;   /* counts it: IA32_PERFEVTSELx[15:0] and UMaskExt, [47:40] */
    uint64_t record;   /* likewise as PEBS wants it */
    uint64_t counters; /* that count it, numbered as in GLOBAL_STATUS */
    uint64_t pebs;     /* on which PEBS is said to record it; 0: on none */
    bool precise;      /* the record is of the instruction itself, not of one some way behind it */
    bool alone;        /* no other event may be counted beside it, on the whole core */
};

/* By enum ds_generation. NULL: the lists are not linked, only the architectural events are known. */
extern const struct ds_event_data ds_event_data[][DS_EVENT_KINDS] __attribute__((weak));
