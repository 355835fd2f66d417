/* SPDX-License-Identifier: MIT */
/* What each CPU counted, as the log's keys say: the events of the session, and the counter of each. */
#pragma once

#include "ds/layout.h"
#include "tools/cairn/frame/text_streams.h"

struct cairn_counter {
    struct cairn_slice event; /* its name */
    uint64_t period, later;   /* later: after a new configuration; 0: unknown */
    uint8_t number;           /* as in IA32_PERF_GLOBAL_STATUS; only where cairn_counters.known */
    bool plain;               /* counts, but writes no records */
};

struct cairn_counters { /* of one CPU */
    unsigned count;
    bool known;                                     /* the log says on which counters the events were */
    uint64_t pebs;                                  /* the bits of those that write records; 0 where not known */
    struct cairn_counter items[DS_COUNTER_NUMBERS]; /* in the order of the events */
};

void cairn_counters_read(struct cairn_counters *counters, const struct cairn_text *text, uint32_t cpu);
/* Of counter `number`; NULL: none, or not known. */
const struct cairn_counter *cairn_counters_find(const struct cairn_counters *counters, unsigned number);
