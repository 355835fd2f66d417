/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/one_drain.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/model/filter.h"

/* Whether the epoch is to be taken; `has`: one was before, which is given up then. */
static bool is_wanted(const struct cairn_taken *t, const struct cairn_epoch *e, uint64_t number, bool has)
{
    if (e->reason == CAIRN_DS_START || !cairn_filter_time(e->time))
        return false;
    if (number != CAIRN_TAKE_FIRST)
        return !has && e->number == number;
    return !has || (!t->epoch.records && e->records);
}

static bool take_epoch(struct cairn_taken *t, const struct cairn_log *log, uint32_t cpu, uint64_t number)
{
    struct cairn_group g;
    bool any = false, has = false;
    cairn_group_init(&g, log, cpu);
    do
        for (size_t i = 0; i < g.epochs.count; i++) {
            const struct cairn_epoch *e = &g.epochs.items[i];
            t->first = any ? t->first : e->number;
            t->last = e->number;
            any = true;
            if (!is_wanted(t, e, number, has))
                continue;
            has = true;
            t->epoch = *e;
            free(t->area);
            t->epoch.area = t->area = memcpy(cairn_alloc(e->area_bytes), e->area, e->area_bytes);
        }
    while (cairn_group_next(&g));
    cairn_group_free(&g);
    return has;
}

static void take_record(struct cairn_taken *t, const struct cairn_item *item)
{
    const struct cairn_record *r = item->record;
    struct cairn_taken_record *held = cairn_alloc(sizeof(*held) + r->size);
    *CAIRN_ADD(t->held) = held;
    held->record = *r;
    held->record.at = memcpy(held->bytes, r->at, r->size);
    struct cairn_item *kept = CAIRN_ADD(t->records);
    *kept = *item;
    kept->record = &held->record;
}

static int by_address(const void *a, const void *b)
{
    const struct cairn_item *x = a, *y = b;
    return x->record->address < y->record->address ? -1 : x->record->address > y->record->address;
}

bool cairn_taken_is_wanted(const struct cairn_item *item)
{
    return !cairn_filter_by_thread() || (item->blame == CAIRN_BLAME_KNOWN && cairn_filter_thread(item->tid));
}

/* The first epoch with a record that the filter by thread wants. */
static uint64_t first_of_thread(const struct cairn_log *log, uint32_t cpu, enum cairn_by by)
{
    struct cairn_lane lane;
    const struct cairn_item *item;
    uint64_t number = CAIRN_TAKE_FIRST;
    cairn_lane_init(&lane, log, cpu, cairn_prefers_compact(log), by);
    while (number == CAIRN_TAKE_FIRST && (item = cairn_lane_next(&lane)) != NULL)
        if (item->kind == CAIRN_ITEM_RECORD && cairn_filter_time(item->time) && cairn_taken_is_wanted(item))
            number = item->record->epoch;
    cairn_lane_free(&lane);
    return number;
}

bool cairn_take(struct cairn_taken *t, const struct cairn_log *log, uint32_t cpu, uint64_t number, enum cairn_by by)
{
    struct cairn_lane lane;
    const struct cairn_item *item;
    *t = (struct cairn_taken){0};
    if (number == CAIRN_TAKE_FIRST && cairn_filter_by_thread()) {
        number = first_of_thread(log, cpu, by);
        if (number == CAIRN_TAKE_FIRST)
            return false;
    }
    if (!take_epoch(t, log, cpu, number))
        return false;
    cairn_lane_init(&lane, log, cpu, cairn_prefers_compact(log), by);
    while ((item = cairn_lane_next(&lane)) != NULL)
        if (item->kind == CAIRN_ITEM_RECORD && item->record->epoch == t->epoch.number)
            take_record(t, item);
    cairn_lane_free(&lane);
    if (t->records.count)
        qsort(t->records.items, t->records.count, sizeof(*t->records.items), by_address);
    return true;
}

void cairn_taken_free(struct cairn_taken *t)
{
    for (size_t i = 0; i < t->held.count; i++)
        free(t->held.items[i]);
    free(t->held.items);
    free(t->records.items);
    free(t->area);
}
