/* SPDX-License-Identifier: MIT */
/* What became of each event that was counted: its records, and how Linux read them. */
#pragma once

#include <linux/perf_event.h>

#include "tools/grab/base/store.h"

struct grab_use {                /* of an event, on all CPUs; events that differ in nothing told here are one */
    struct perf_event_attr attr; /* its first GRAB_ATTR bytes */
    uint64_t config, large;      /* as in struct grab_enabled */
    bool known;                  /* false: records of counters of which no event was told; the fields above are 0 */
    bool of_kernel;
    bool collects;     /* Linux lets records of this event wait in the buffer, if all events on a CPU allow it */
    uint64_t counters; /* on which it was */
    uint64_t records, drains, interrupts;
    uint64_t single;            /* drains with a threshold at the first record */
    uint64_t full;              /* drains that found no room for one more record */
    uint64_t incomplete;        /* drains whose records are not all here, or that come after one that is missing */
    uint32_t smallest, largest; /* record, bytes */
    uint64_t groups;            /* that its records have: bit n: enum cairn_pebs_group n */
};

struct grab_uses {
    struct grab_use *items;
    size_t count, room;
    uint64_t drains, interrupts; /* of all */
};

/* `format`: of PEBS. The caller frees `items`. */
void grab_uses_find(struct grab_uses *uses, const struct grab_store *store, unsigned format);
