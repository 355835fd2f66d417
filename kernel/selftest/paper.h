/* SPDX-License-Identifier: MIT */
/* What is known of a program before it runs (kernel/selftest/ring3/known.asm), and the comparison of the counts with
 * it. It knows no machine, so tests compile it on the host. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ds/ds.h"
#include "kernel/selftest/ring3/known.h"

struct kpaper_step { /* as nasm writes it */
    uint64_t ip;
    uint64_t what; /* STEP_... */
};

struct kpaper {
    const struct kpaper_step *step;
    size_t steps;
    uint64_t system; /* where SYSCALL leads */
};

struct kpaper_record { /* of a PEBS record, whose format may not tell one of them: 0 */
    uint64_t ip;       /* the instruction */
    uint64_t next;     /* the one after it */
};

/* Worst last. */
enum kpaper_verdict {
    KPAPER_VERIFIED,   /* equal to the paper */
    KPAPER_CONSISTENT, /* nothing speaks against the paper */
    KPAPER_UNKNOWN,    /* cannot be known here */
    KPAPER_WRONG
};

/* How often the event happens; events of memory and frontend are not on paper: 0. Cycles: as the model has them, one an
 * instruction. */
uint64_t kpaper_count(const struct kpaper *paper, enum ds_event_kind kind);

/*
 * The counts of `turns` runs. `exact`: every run must have counted what is expected (the model). Else a processor did,
 * which counts more where an interrupt came in, never less: one run that has counted what is expected verifies it; all
 * of them, equal to each other and different from it, disprove it where the rule is `certain`.
 */
enum kpaper_verdict kpaper_judge_counts(bool exact, bool certain, uint64_t expected, const uint64_t *counts,
                                        unsigned turns);

/*
 * The records of one run. `spacing` n: exact, every nth of the events is recorded, from the nth on, and nothing else.
 * 0: where a processor's records fall is its own affair, but each must lie on an instruction that is the event. *wrong:
 * the first record that is not right, or `count` where one is missing.
 */
enum kpaper_verdict kpaper_judge_records(const struct kpaper *paper, enum ds_event_kind kind, uint64_t spacing,
                                         const struct kpaper_record *records, size_t count, size_t *wrong);
