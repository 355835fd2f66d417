/* SPDX-License-Identifier: MIT */
/* The settings in which the judge has the processor record the known program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/grab/base/rings.h"
#include "tools/grab/report/cores.h"
#include "tools/grab/report/samples.h"

enum grab_setting_number {
    GRAB_BRANCHES,      /* of an ordinary counter */
    GRAB_PRECISE,       /* instructions, with precise distribution */
    GRAB_PRECISE_FIRST, /* branches, with precise distribution: counter 0 where only that one has it */
    GRAB_SHORT,         /* as GRAB_PRECISE, with a short period */
    GRAB_TWO,           /* branches and instructions at the same time */
    GRAB_HISTORY,       /* branches, with branch history in the records */
    GRAB_RESTS,         /* branches; the program sleeps now and then */
    GRAB_INTERRUPTS,    /* instructions, without PEBS: Linux samples at each overflow */
    GRAB_TRACE,         /* every branch, by BTS, which Linux makes a sample of */
    GRAB_LOADS,         /* loads, with their latency */
    GRAB_SETTINGS
};

struct grab_setting {
    const char *event; /* for people */
    uint64_t period, iterations;
    uint64_t other; /* the period of instructions, with two events: neither it nor it + 1 is in step with
                     * the other's: 60 branches are 157.5 instructions */
    unsigned rests; /* so often the program sleeps, and begins anew */
};
extern const struct grab_setting grab_settings[GRAB_SETTINGS]; /* seen.c: records are read by it, too */

struct grab_taken {
    const char *refused; /* why Linux did not do it; NULL: it did */
    size_t first, end;   /* its drains, of that CPU */
    size_t first_switch, end_switch;
    uint32_t tid;                /* of the program */
    struct grab_samples samples; /* IP, count, -, RCX of GRAB_INTERRUPTS; from, to of GRAB_TRACE */
    uint64_t cycles;             /* of GRAB_PRECISE; 0: unknown */
};

/* Runs the known program on that core in a setting. `format`: of PEBS. */
void grab_settings_run(enum grab_setting_number number, const struct grab_core *core, unsigned format,
                       struct grab_rings *rings, const struct grab_store *store, struct grab_taken *taken);
