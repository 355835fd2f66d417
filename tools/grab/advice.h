/* SPDX-License-Identifier: MIT */
/* Whether PEBS samples an event, how Linux reads its records, and what could be changed in that, in words. */
#pragma once

#include "tools/grab/uses.h"

/* Settings with which Linux throttles as few events as it can. */
#define GRAB_UNTHROTTLE "kernel.perf_event_max_sample_rate=1000000 kernel.perf_cpu_time_max_percent=0"
#define GRAB_ADVICE     512 /* bytes of a text, with what ends it */

struct grab_advice {
    char pebs[GRAB_ADVICE];   /* yes or no, and why */
    char change[GRAB_ADVICE]; /* what to change */
};

/* `name`: of the event. */
void grab_advise(struct grab_advice *advice, const struct grab_use *use, const char *name);
