/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/cairn/base/tally.h"

#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct cairn_tally_row *)a)->name, ((const struct cairn_tally_row *)b)->name);
}

struct cairn_tally_row *cairn_tally_find(const struct cairn_tally *tally, const char *name)
{
    const struct cairn_tally_row wanted = {.name = name};
    struct cairn_tally_row **known = tfind(&wanted, &tally->tree, by_name);
    return known ? *known : NULL;
}

struct cairn_tally_row *cairn_tally_row(struct cairn_tally *tally, const char *name)
{
    struct cairn_tally_row *known = cairn_tally_find(tally, name);
    if (known)
        return known;
    const size_t size = strlen(name) + 1;
    struct cairn_tally_row *row = cairn_alloc(sizeof(*row) + size);
    row->name = memcpy(row + 1, name, size);
    if (!tsearch(row, &tally->tree, by_name))
        cairn_out_of_memory();
    *CAIRN_ADD(tally->rows) = row;
    return row;
}

static void nothing(void *row)
{
    (void)row;
}

void cairn_tally_free(struct cairn_tally *tally)
{
    tdestroy(tally->tree, nothing);
    for (size_t i = 0; i < tally->rows.count; i++)
        free(tally->rows.items[i]);
    free(tally->rows.items);
    *tally = (struct cairn_tally){0};
}

double cairn_series_sum(const struct cairn_series *s)
{
    double sum = 0.0;
    for (unsigned i = 0; i < CAIRN_SLICES; i++)
        sum += s->slice[i];
    return sum;
}

double cairn_series_ratio(const struct cairn_series *part, const struct cairn_series *whole, double *deviation)
{
    const double all = cairn_series_sum(whole), ratio = all > 0.0 ? cairn_series_sum(part) / all : 0.0;
    double squares = 0.0;
    for (unsigned i = 0; i < CAIRN_SLICES; i++) {
        const double rest = part->slice[i] - ratio * whole->slice[i];
        squares += rest * rest;
    }
    *deviation = all > 0.0 ? sqrt(squares * CAIRN_SLICES / (CAIRN_SLICES - 1.0)) / all : 0.0;
    return ratio;
}
