/* SPDX-License-Identifier: MIT */
/* Running a random program under events of perf's, and comparing what they say with its steps. */
#pragma once

#include "tests/linux/random/trace.h"

enum random_core { RANDOM_SKYLAKE, RANDOM_ICELAKE, RANDOM_COUGAR_COVE, RANDOM_DARKMONT, RANDOM_CORES };

struct random_machine { /* what the kernel has found */
    enum random_core core;
    unsigned bts_type;              /* of the PMU intel_bts */
    uint64_t entry[RANDOM_ENTRIES]; /* where the kernel begins; 0: unknown */
};

struct random_record { /* of BTS, as the processor writes it */
    uint64_t from, to, flags;
};

#define RANDOM_SAMPLE_REGISTERS 18u

struct random_sample { /* of PEBS */
    uint64_t ip;
    unsigned switches;                 /* how often others got the CPU since the sample before */
    struct random_registers registers; /* RIP is not set */
};

struct random_told { /* by the processor, of one run */
    uint64_t count[8];
    unsigned counts;
    struct random_record *record;
    unsigned records, record_room;
    struct random_sample *sample;
    unsigned samples, sample_room;
    unsigned switches; /* since the last sample */
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

struct random_sampling {
    enum random_event event;
    uint64_t period;   /* above 2: Linux knows no shorter one than that */
    uint64_t distance; /* events from one record to the next */
    bool single;       /* one record for each interrupt, and the kernel sets the counter anew, not the processor */
};

/* False: this is no machine to run on, and `why` says so. */
bool random_machine(struct random_machine *machine, char *why, size_t size);

/* Whether the processor can count it. */
bool random_has(const struct random_machine *machine, enum random_event event);
/* Whether a counter that samples only this event has precise distribution: it records the event it overflows with. */
bool random_precise(const struct random_machine *machine, enum random_event event);

/* Opens an event that counts nothing, and leaves it open: Linux patches its scheduler's code where the first event of a
 * thread comes and where the last one has gone, and that is no good while QEMU's other vCPU translates that code
 * (docs/reference/qemu-ds.md, section 3). False: it cannot be opened. */
bool random_hold_event(void);

/* The child stands at its entry, is let go, and has ended when these return: NULL, or what went wrong (static). */
const char *random_run_counting(const struct random_machine *machine, pid_t child, const enum random_event *events,
                                unsigned n, struct random_told *told);
/* With BTS; `pages` of buffer; `ring`: it is overwritten, and records are its last. */
const char *random_run_bts(const struct random_machine *machine, pid_t child, unsigned pages, bool ring,
                           const enum random_event *events, unsigned n, struct random_told *told);
const char *random_run_pebs(const struct random_machine *machine, pid_t child, const struct random_sampling *sampling,
                            struct random_told *told);

/* Whether the step is one of these events. */
bool random_causes(const struct random_step *step, enum random_event event);

/* NULL, or what differs (static), and *at: the step it is about. */
const char *random_compare_counts(const struct random_trace *trace, const enum random_event *events, unsigned n,
                                  const struct random_told *told);
const char *random_compare_bts(const struct random_machine *machine, const struct random_trace *trace,
                               const struct random_told *told, bool ring, uint64_t page_faults, unsigned *at);
const char *random_compare_pebs(const struct random_trace *trace, const struct random_sampling *sampling,
                                const struct random_told *told, unsigned *at);
