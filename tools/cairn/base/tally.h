/* SPDX-License-Identifier: MIT */
/*
 * Counts things by name in two runs, A and B, and computes how sure a difference is.
 *
 * Switches and records are not independent of each other: a thread that computes does so for a while. So each run is
 * cut into slices of time. The differences between the slices show how much runs differ by chance alone (batch means;
 * for a part of a whole that is not constant, the ratio estimator).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CAIRN_SIDES  2u  /* runs */
#define CAIRN_SLICES 20u /* of a run */

struct cairn_series { /* of one run */
    double slice[CAIRN_SLICES];
    uint64_t count; /* how many things it is of: few tell little */
};

struct cairn_tally_row {
    struct cairn_series side[CAIRN_SIDES];
    const char *name;
};

struct cairn_tally { /* zeroed: empty */
    void *tree;
    struct {
        struct cairn_tally_row **items;
        size_t count, room;
    } rows; /* as they came */
};

/* The row of that name, made where there is none. It stays where it is. */
struct cairn_tally_row *cairn_tally_row(struct cairn_tally *tally, const char *name);
/* NULL: there is none. */
struct cairn_tally_row *cairn_tally_find(const struct cairn_tally *tally, const char *name);
void cairn_tally_free(struct cairn_tally *tally);

/* The sum of its slices. */
double cairn_series_sum(const struct cairn_series *s);
/* `part` over `whole`, and in *deviation its standard deviation. 0 where the whole is 0. */
double cairn_series_ratio(const struct cairn_series *part, const struct cairn_series *whole, double *deviation);
