/* SPDX-License-Identifier: MIT */
#include "tools/cairn/command/profile/rows.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"

#define ROWS_MORE 65536u /* before those that are the same become one */

static int by_place(const void *a, const void *b)
{
    const struct cairn_profile_row *x = a, *y = b;
    int c = x->where && y->where ? strcmp(x->where, y->where) : 0;
    if (c || x->ip != y->ip)
        return c ? c : x->ip < y->ip ? -1 : 1;
    if (x->blame != y->blame)
        return x->blame < y->blame ? -1 : 1;
    if (x->image != y->image) /* of one list */
        return x->image < y->image ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int by_count(const void *a, const void *b)
{
    const struct cairn_profile_row *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return by_place(a, b);
}

void cairn_profile_rows_merge(struct cairn_profile_rows *rows)
{
    size_t kept = 0;
    struct cairn_profile_row *r = rows->items;
    if (rows->count)
        qsort(r, rows->count, sizeof(*r), by_place);
    for (size_t i = 0; i < rows->count; i++)
        if (kept && by_place(&r[kept - 1], &r[i]) == 0)
            r[kept - 1].count += r[i].count;
        else
            r[kept++] = r[i];
    rows->count = rows->merged = kept;
}

void cairn_profile_rows_add(struct cairn_profile_rows *rows, struct cairn_profile_row row)
{
    if (rows->count >= ROWS_MORE && rows->count >= 2 * rows->merged)
        cairn_profile_rows_merge(rows);
    row.count = 1;
    *CAIRN_ADD(*rows) = row;
}

void cairn_profile_rows_order(struct cairn_profile_rows *rows)
{
    cairn_profile_rows_merge(rows);
    if (rows->count)
        qsort(rows->items, rows->count, sizeof(*rows->items), by_count);
}
