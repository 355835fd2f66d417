/* SPDX-License-Identifier: MIT */
/* The kinds of cores, for each of which Linux has a PMU. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define GRAB_CORES 3u

struct grab_core {
    const char *pmu; /* its name */
    unsigned cpu;    /* the first one of them */
    uint32_t type;   /* of the PMU, where there are several; 0: there is one */
};

/* How many there are, at most GRAB_CORES. 0: Linux does not tell which CPU this program may run on. */
unsigned grab_cores_find(struct grab_core cores[GRAB_CORES]);
/* What Linux calls that event of the PMU: "event=0xcd,umask=0x1,ldlat=3". False: it has none of that name. */
bool grab_core_event(char text[96], const struct grab_core *core, const char *name);
