/* SPDX-License-Identifier: MIT */
/* The data of Intel's lists of events for each kind of core. tools/events.py makes it from ds/events. */
#pragma once

#include "ds/ds.h"

struct ds_core_data { /* a model of processors, and of hybrids one of its kinds of core; family 0 ends the table */
    uint8_t family, model;
    uint8_t core_type;         /* CPUID.1AH:EAX[31:24]; 0: any */
    uint32_t native_model;     /* CPUID.1AH:EAX[23:0]; 0: any */
    uint8_t generation;        /* enum ds_generation */
    const char *const *errata; /* of each kind of event, as in "MTL012,MTL013", or NULL; NULL: of none */
};

struct ds_event_data { /* all 0: there is no such event */
    uint64_t select;   /* counts it: IA32_PERFEVTSELx[15:0] and UMaskExt, [47:40] */
    uint64_t record;   /* likewise as PEBS wants it */
    uint64_t counters; /* that count it, numbered as in GLOBAL_STATUS */
    uint64_t pebs;     /* on which PEBS is said to record it; 0: on none */
    bool precise;      /* the record is of the instruction itself, not of one some way behind it */
    bool alone;        /* no other event may be counted beside it, on the whole core */
};

extern const struct ds_core_data ds_core_data[];
extern const struct ds_event_data ds_event_data[DS_GENERATIONS][DS_EVENT_KINDS];
