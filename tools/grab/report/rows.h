/* SPDX-License-Identifier: MIT */
/* The judge's questions. Each is a function over the records of one settings run; those that the probe asks, too, have
 * its names and words (docs/how-to/probe.md). */
#pragma once

#include "tools/grab/report/seen.h"

struct grab_answer {
    char answer[32];    /* a word; empty: not asked */
    char evidence[256]; /* the numbers behind it, in 76 characters; without an answer the reason, and what to do */
};

struct grab_row {
    const char *name;
    const char *model; /* what the model does; NULL: what it does by default in the probe's question of this name */
    void (*ask)(const struct grab_judged *judged, struct grab_answer *answer);
};
#define GRAB_ROWS 17u
extern const struct grab_row grab_rows[GRAB_ROWS];

const char *grab_row_model(const struct grab_row *row);
