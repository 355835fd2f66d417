/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/totals.h"

#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/model/cpu_time.h"
#include "tools/cairn/model/filter.h"

struct stamps { /* of one CPU, the other kind than the lane's; and the truth beside them */
    struct cairn_stamps other;
    struct cairn_culprits culprits;
};

static struct cairn_total_thread *thread_of(struct cairn_totals *t, uint32_t tid)
{
    uint32_t known = cairn_map_find(&t->by_tid, tid);
    if (known)
        return &t->threads.items[known - 1];
    cairn_map_add(&t->by_tid, tid, (uint32_t)t->threads.count);
    struct cairn_total_thread *added = CAIRN_ADD(t->threads);
    added->tid = tid;
    return added;
}

/* The part of the stint that passes by time. */
static void count_stint(struct cairn_totals *t, uint32_t cpu, const struct cairn_stint *stint)
{
    const uint64_t span = cairn_filter_span(stint->from, stint->to);
    if (stint->kind == CAIRN_STINT_UNKNOWN) {
        t->unknown[cpu] += span;
    } else if (stint->kind == CAIRN_STINT_IDLE) {
        t->idle[cpu] += span;
    } else if (!cairn_filter_thread(stint->tid)) {
        t->others[cpu] += span;
    } else {
        t->busy[cpu] += span;
        if (span)
            thread_of(t, stint->tid)->busy += span;
    }
}

static void count_switch(struct cairn_totals *t, const struct cairn_item *item, struct cairn_stints *stints)
{
    struct cairn_stint stint;
    const bool timed = cairn_stints_next(stints, &item->sw, &stint);
    if (timed && cairn_filter_cpu(item->cpu))
        count_stint(t, item->cpu, &stint);
    if (!cairn_filter_passes(item))
        return;
    t->switches[item->cpu]++;
    t->passed.forms[item->sw.form]++;
    if (item->sw.old_tid && cairn_filter_thread(item->sw.old_tid))
        thread_of(t, item->sw.old_tid)->runs++;
}

static void count_event(struct cairn_totals *t, const struct cairn_item *item)
{
    struct cairn_live live;
    if (!cairn_filter_passes(item))
        return;
    t->passed.events++;
    if (item->lock)
        t->passed.locks++;
    else if (cairn_live_of(item->event, &live))
        t->passed.live[live.kind]++;
    else if (item->event->hook <= UINT16_MAX)
        t->passed.hooks[item->event->hook]++;
}

static void count_verdict(struct cairn_total_rule *a, struct cairn_verdict v, bool told, uint32_t tid)
{
    bool known = v.blame == CAIRN_BLAME_KNOWN;
    a->blames[v.blame]++;
    a->told += known && told;
    a->wrong += known && told && v.tid != tid;
}

static void count_record(struct cairn_totals *t, const struct cairn_item *item, struct stamps *stamps)
{
    const struct cairn_record *r = item->record;
    uint32_t tid = 0;
    bool told = cairn_culprits_find(&stamps->culprits, r->epoch, r->address, &tid);
    count_verdict(&t->rules[CAIRN_TOTAL_TIME], item->by[CAIRN_BY_TIME], told, tid);
    cairn_stamps_read(&stamps->other, r->epoch, r->epoch);
    const struct cairn_verdict other = cairn_stamps_find(&stamps->other, r->epoch, r->index);
    const struct cairn_verdict own = item->by[CAIRN_BY_INDEX];
    count_verdict(&t->rules[CAIRN_TOTAL_0524], t->compact ? other : own, told, tid);
    count_verdict(&t->rules[CAIRN_TOTAL_0525], t->compact ? own : other, told, tid);
    t->records++;
    t->attributed += item->blame == CAIRN_BLAME_KNOWN;
    if (item->blame == CAIRN_BLAME_KNOWN)
        thread_of(t, item->tid)->records++;
}

/* Switches and records of one CPU. Where it is none of those asked for, only its last switch is looked for. Whether
 * something is missing behind that. */
static bool count_cpu(struct cairn_totals *t, uint32_t c, enum cairn_by by, struct cairn_stints *stints)
{
    struct cairn_lane lane;
    const struct cairn_item *item;
    struct stamps stamps;
    cairn_stints_init(stints, t->log);
    cairn_lane_init(&lane, t->log, c, t->compact, by);
    cairn_stamps_init(&stamps.other, t->log, c, !t->compact);
    cairn_culprits_read(&stamps.culprits, t->log, c);
    while ((item = cairn_lane_next(&lane)) != NULL) {
        if (item->kind == CAIRN_ITEM_SWITCH)
            count_switch(t, item, stints);
        if (item->kind == CAIRN_ITEM_RECORD && cairn_filter_passes(item))
            count_record(t, item, &stamps);
        if (item->kind == CAIRN_ITEM_EVENT)
            count_event(t, item);
        if (item->kind == CAIRN_ITEM_EPOCH && cairn_filter_passes(item) && item->epoch->reason != CAIRN_DS_START) {
            t->passed.drains++;
            t->passed.empty += !item->epoch->record_bytes;
        }
    }
    cairn_stamps_free(&stamps.other);
    cairn_culprits_free(&stamps.culprits);
    const bool hole = lane.cursor.hole != CAIRN_NO_HOLE;
    cairn_lane_free(&lane);
    return hole;
}

void cairn_totals_read(struct cairn_totals *t, const struct cairn_log *log, enum cairn_by by, bool ended)
{
    struct cairn_stints stints[CAIRN_CPUS_MOST];
    struct cairn_stint rest;
    bool hole[CAIRN_CPUS_MOST];
    int64_t stop = log->session.stop; /* where that is missing: the last switch of all CPUs */
    bool stop_known = log->session.stop_known;
    *t = (struct cairn_totals){.log = log, .compact = cairn_prefers_compact(log)};
    for (uint32_t c = 0; c < log->cpus; c++) {
        hole[c] = count_cpu(t, c, by, &stints[c]);
        if (stints[c].has_time && (!stop_known || stints[c].time > stop)) {
            stop = stints[c].time;
            stop_known = true;
        }
    }
    for (uint32_t c = 0; c < log->cpus && stop_known && ended; c++)
        if (cairn_filter_cpu(c) && cairn_stints_rest(&stints[c], log, c, hole[c], stop, &rest))
            count_stint(t, c, &rest);
}

static int by_busy(const void *a, const void *b)
{
    const struct cairn_total_thread *x = a, *y = b;
    if (x->busy != y->busy)
        return x->busy > y->busy ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int by_records(const void *a, const void *b)
{
    const struct cairn_total_thread *x = a, *y = b;
    if (x->records != y->records)
        return x->records > y->records ? -1 : 1;
    return by_busy(a, b);
}

void cairn_totals_order(struct cairn_totals *t, bool records)
{
    if (t->threads.count)
        qsort(t->threads.items, t->threads.count, sizeof(*t->threads.items), records ? by_records : by_busy);
}

void cairn_totals_free(struct cairn_totals *t)
{
    free(t->threads.items);
    cairn_map_free(&t->by_tid);
}
