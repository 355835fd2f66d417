/* SPDX-License-Identifier: MIT */
/* Lab 10: the machines of the check. */
#pragma once

#include "task.h"

enum kind { /* of made-up machines: what makes it hard to see the cost of tracing */
            QUIET,
            INTERRUPTED, /* some runs take much longer */
            WARMING,     /* runs become slower from one to the next; the first ones are far too slow */
            ALTERNATING, /* every second run takes longer */
            HELPING,     /* with tracing the program is faster, as happens by another place of its code in a cache */
            FREE,        /* tracing costs nothing */
            STILL,       /* no run differs from another, but where it is interrupted: the cost is -1, 0 or 1 ticks */
            KINDS
};

struct lab_machine {
    enum kind kind;
    bool real;                                            /* this machine: `kind` and the next line are not used */
    int64_t base, cost, slope, alternate;                 /* ticks */
    enum { STEADY, MOVED, SELDOM, VARIES, TURNS } result; /* TURNS: from half of the runs on another one */
    bool loss_unknown;
    struct lab_trial first_plain; /* what has been shown, for the check to compare with: */
    uint32_t trials, plain, traced;
    bool plain_differs, traced_differs; /* from the first untraced result */
    uint64_t traced_result[LAB_TRIALS];
    uint64_t samples, lost;
    uint64_t plain_ticks[LAB_TRIALS];
};

/* A made-up machine, which the number and the seed of this boot decide. */
void machine_make(struct lab_machine *machine, enum kind kind, uint32_t number);

/* ---- check_real.c: this machine */
void real_init(struct lab_machine *machine);
struct lab_trial real_trial(bool traced);
