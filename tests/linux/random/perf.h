/* SPDX-License-Identifier: MIT */
/* Running a random program under events of perf's, and comparing what they say with its steps. */
#pragma once

#include "tests/linux/random/trace.h"

struct random_machine {             /* what the kernel has found */
    bool icelake;                   /* else of Skylake's kind */
    unsigned bts_type;              /* of the PMU intel_bts */
    uint64_t entry[RANDOM_ENTRIES]; /* where the kernel begins; 0: unknown */
};

struct random_record { /* of BTS, as the processor writes it */
    uint64_t from, to, flags;
};

#define RANDOM_SAMPLE_REGISTERS 18u

struct random_sample { /* of PEBS */
    uint64_t ip;
    struct random_registers registers; /* RIP is not set */
};

struct random_told { /* by the processor, of one run */
    uint64_t count[8];
    unsigned counts;
    struct random_record *record;
    unsigned records, record_room;
    struct random_sample *sample;
    unsigned samples, sample_room;
};

enum random_event {
    RANDOM_EVENT_INSTRUCTIONS,
    RANDOM_EVENT_BRANCHES,
    RANDOM_EVENT_CONDITIONAL,
    RANDOM_EVENT_CALLS,
    RANDOM_EVENT_RETURNS,
    RANDOM_EVENT_TAKEN,
    RANDOM_EVENT_FAR,
    RANDOM_EVENT_CYCLES,
    RANDOM_EVENT_PAGE_FAULTS,
    RANDOM_EVENTS
};
extern const char *const random_event_names[RANDOM_EVENTS];

/* False: this is no machine to run on, and `why` says so. */
bool random_machine(struct random_machine *machine, char *why, size_t size);

/* The child stands at its entry, is let go, and has ended when these return: NULL, or what went wrong (static). */
const char *random_run_counting(const struct random_machine *machine, pid_t child, const enum random_event *events,
                                unsigned n, struct random_told *told);
/* With BTS; `pages` of buffer; `ring`: it is overwritten, and records are its last. */
const char *random_run_bts(const struct random_machine *machine, pid_t child, unsigned pages, bool ring,
                           const enum random_event *events, unsigned n, struct random_told *told);
/* With PEBS; `single`: one record for each interrupt. *was_away: others have run in between, and nothing is told: when
 * the program goes on Linux makes a period that lacks one event one of two. */
const char *random_run_pebs(const struct random_machine *machine, pid_t child, enum random_event event, uint64_t period,
                            bool single, bool *was_away, struct random_told *told);

/* NULL, or what differs (static), and *at: the step it is about. */
const char *random_compare_counts(const struct random_trace *trace, const enum random_event *events, unsigned n,
                                  const struct random_told *told);
const char *random_compare_bts(const struct random_machine *machine, const struct random_trace *trace,
                               const struct random_told *told, bool ring, uint64_t page_faults, unsigned *at);
const char *random_compare_pebs(const struct random_trace *trace, enum random_event event, uint64_t distance,
                                const struct random_told *told, unsigned *at);
