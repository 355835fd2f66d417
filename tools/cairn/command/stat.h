/* SPDX-License-Identifier: MIT */
/* Parts of `cairn stat`: the layout of its rows (stat.c), those about the Debug Store (stat_ds.c), and about samples
 * (stat_samples.c). */
#pragma once

#include <stdio.h>

#include "tools/cairn/base/colour.h"
#include "tools/cairn/model/totals.h"

static inline const char *cairn_stat_heading(void)
{
    return cairn_colour(stdout, CAIRN_COLOUR_HEAD);
}

static inline const char *cairn_stat_plain(void)
{
    return cairn_colour(stdout, CAIRN_COLOUR_OFF);
}

/* Of a number of lost things. */
static inline const char *cairn_stat_bad(bool any)
{
    return cairn_colour(stdout, any ? CAIRN_COLOUR_BAD : CAIRN_COLOUR_OFF);
}

/* A figure this log has not, and why. */
void cairn_stat_absent(const char *name, const char *why);
void cairn_stat_absent_slice(const char *name, struct cairn_slice why);
/* Why that is, of what an option switches on: its name, the value that switches it off, what to do about it. */
const char *cairn_stat_absent_option(const struct cairn_log *log, const char *option, const char *off,
                                     const char *hint);

/* Records, branches and the model's log, and what was lost of them; of threads with records the first `most`. */
void cairn_stat_debug_store(struct cairn_totals *t, size_t most);
/* The processes in which a profile's samples were found, the first `most` of them; nothing where there are none. */
void cairn_stat_samples(const struct cairn_log *log, size_t most);
/* How many records' threads each rule tells, side by side, whichever was asked for. */
void cairn_stat_attribution(const struct cairn_totals *t);
