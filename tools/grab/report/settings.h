/* SPDX-License-Identifier: MIT */
/* The settings in which the judge has the processor record the known program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/grab/base/rings.h"

enum grab_setting_number {
    GRAB_BRANCHES,      /* of an ordinary counter */
    GRAB_PRECISE,       /* instructions, with precise distribution */
    GRAB_PRECISE_FIRST, /* branches, with precise distribution: counter 0 where only that one has it */
    GRAB_SHORT,         /* as GRAB_PRECISE, with a short period */
    GRAB_TWO,           /* branches and instructions at the same time */
    GRAB_HISTORY,       /* branches, with branch history in the records */
    GRAB_SETTINGS
};

struct grab_setting {
    const char *event; /* for people */
    uint64_t period, iterations;
    uint64_t other; /* the period of instructions, with two events: one that does not run in step with the other's */
};
extern const struct grab_setting grab_settings[GRAB_SETTINGS]; /* seen.c: records are read by it, too */

struct grab_taken {
    const char *refused; /* why Linux did not do it; NULL: it did */
    size_t first, end;   /* its drains, of that CPU */
};

/* The CPU that all of it runs on; a performance core of a hybrid. Negative: none is known. */
int grab_settings_cpu(void);
/* Runs the known program on that CPU in a setting. `format`: of PEBS. */
void grab_settings_run(enum grab_setting_number number, unsigned cpu, unsigned format, struct grab_rings *rings,
                       const struct grab_store *store, struct grab_taken *taken);
