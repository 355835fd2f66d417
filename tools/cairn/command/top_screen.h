/* SPDX-License-Identifier: MIT */
/* The screen of `cairn top`. */
#pragma once

#include <stdio.h>

#include "tools/cairn/command/top_figures.h"

#define CAIRN_TOP_HEAD 7u /* rows above the threads */

struct cairn_top_source {
    const char *name; /* of the log */
    uint64_t at;      /* bytes read of it */
    bool over;        /* no more come */
};

/* So many rows of at most 80 columns. "Now" is what `f` has more than `before`. */
void cairn_top_print(FILE *to, const struct cairn_top_figures *f, const struct cairn_top_figures *before,
                     const struct cairn_top_source *source, unsigned rows);
