/* SPDX-License-Identifier: MIT */
/* Lab 6: what you write. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/wire/format.h"

/* ---- one CPU's trace, in order of time */

struct leaving {  /* a context switch: who left. Who came leaves at the next one */
    int64_t time; /* in units of the session's clock */
    uint32_t tid; /* 0: the idle thread */
    bool sampled; /* whether this thread can cause records: others are not counted */
};

struct batch {             /* an event 0525H */
    uint32_t first, count; /* its switches: trace.switches[first] and so on; at least one */
    uint32_t epoch;        /* of PEBS. A drain ends an epoch, and no batch spans it */
    uint64_t index;        /* PebsIndex when the batch was closed: where the next record would go */
};

struct trace {
    const struct leaving *switches;
    const struct batch *batches;
    uint32_t switch_count, batch_count;
};

struct sample { /* a PEBS record */
    uint32_t epoch;
    uint64_t address; /* where the record lay in the buffer */
    bool timed;       /* whether records of this format have a TSC; then */
    int64_t time;     /* the time, in units of the session's clock */
};

#define AMBIGUOUS UINT32_MAX       /* more than one thread can have caused it */
#define UNKNOWN   (UINT32_MAX - 1) /* nothing tells who */

/* The thread that caused the record; AMBIGUOUS; or UNKNOWN. Never guess. By PebsIndex alone, or by time alone. */
uint32_t by_index(const struct trace *t, const struct sample *s);
uint32_t by_time(const struct trace *t, const struct sample *s);

/* ---- the kernel's side: when to close a batch */

struct moment { /* a context switch that is about to be added to the open batch */
    uint32_t old_tid, new_tid;
    bool old_sampled, new_sampled;
    uint64_t index; /* PebsIndex now */
    uint64_t stamp; /* PebsIndex when the batch before was closed, or where the buffer begins if this epoch has none */
    uint32_t switches; /* in the open batch */
};

#define OWN_WORDS 1024u

/* Called at each switch of one CPU, if a batch is open. true: the open batch is closed first, with the index as it is
 * now, and the switch begins the next one. The encoder's own reasons to close apply as well. `own`: memory for you, one
 * for each CPU, zeroed before the first call. */
bool close_here(uint64_t own[OWN_WORDS], const struct moment *m);
