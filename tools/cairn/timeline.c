/* SPDX-License-Identifier: MIT */
#include "tools/cairn/timeline.h"

#include <stdlib.h>

#include "tools/cairn/bytes.h"
#include "tools/cairn/filter.h"

static bool has_others(const struct cairn_cpu *cpu)
{
    return cpu->other_events || cpu->live.count || cpu->locks.count || cpu->lock_configs.count;
}

/* The next event that is neither switches nor the Debug Store's. */
static void find_other(struct cairn_lane *lane)
{
    const struct cairn_cpu *cpu = lane->cursor.cpu;
    int64_t time = lane->other.time;
    lane->has_other = false;
    for (; lane->piece < cpu->piece_count && has_others(cpu); lane->piece++, lane->at = 0) {
        const struct cairn_piece *p = &cpu->pieces[lane->piece];
        if (p->hole != CAIRN_NO_HOLE)
            lane->other_holes = p->hole + 1;
        for (; cairn_event_at(p->data, p->size, lane->at, &lane->other); lane->at += lane->other.space) {
            if (!lane->other.has_time)
                lane->other.time = time;
            time = lane->other.time;
            if (cairn_event_decoded(&lane->other))
                continue;
            lane->at += lane->other.space;
            lane->has_other = true;
            return;
        }
    }
}

void cairn_lane_init(struct cairn_lane *lane, const struct cairn_log *log, uint32_t cpu, bool compact, enum cairn_by by)
{
    *lane = (struct cairn_lane){.cpu = cpu, .rule = by, .log = log, .only_sampled = cairn_only_sampled(log)};
    cairn_cursor_init(&lane->cursor, log, cpu, compact);
    cairn_spans_read(&lane->spans, log, cpu, compact);
    lane->other.time = log->session.start_known ? log->session.start : 0;
    find_other(lane);
}

void cairn_lane_free(struct cairn_lane *lane)
{
    cairn_spans_free(&lane->spans);
}

/* The hole between the last switch and the next. */
static uint32_t hole_ahead(const struct cairn_lane *lane, const struct cairn_switch *next)
{
    return next ? next->hole : lane->cursor.hole;
}

/* Whether switches may be missing between those around this time. Behind the moment at which a life of the session
 * began none are. */
static bool missing_around(const struct cairn_lane *lane, const struct cairn_switch *next, int64_t time)
{
    uint32_t n = hole_ahead(lane, next);
    if (n == CAIRN_NO_HOLE)
        return false;
    const struct cairn_hole *hole = &lane->cursor.cpu->holes.items[n];
    return hole->kind != CAIRN_HOLE_STOPPED || time <= hole->until;
}

/* The thread that ran at that time. */
static struct cairn_verdict by_time(const struct cairn_lane *lane, const struct cairn_switch *next, int64_t time)
{
    struct cairn_verdict v = {.blame = CAIRN_BLAME_KNOWN};
    if ((lane->has_last && lane->last.time == time) || (next && next->time == time))
        v.blame = CAIRN_BLAME_SAME_UNIT;
    else if (missing_around(lane, next, time))
        v.blame = CAIRN_BLAME_LOSS;
    else if (next)
        v.tid = next->old_tid;
    else if (lane->has_last && lane->last.new_known)
        v.tid = lane->last.new_tid;
    else
        v.blame = CAIRN_BLAME_LAST;
    return v;
}

static struct cairn_verdict caused_by_time(const struct cairn_lane *lane, const struct cairn_switch *next,
                                           const struct cairn_record *r)
{
    struct cairn_verdict v = {.blame = CAIRN_BLAME_NO_TIME};
    if (r->timed)
        v = by_time(lane, next, r->time);
    if (v.blame == CAIRN_BLAME_KNOWN && lane->only_sampled && !cairn_is_sampled(lane->log, v.tid))
        v.blame = CAIRN_BLAME_UNSAMPLED;
    return v;
}

static void blame(const struct cairn_lane *lane, const struct cairn_switch *next, struct cairn_item *item)
{
    const struct cairn_record *r = item->record;
    enum cairn_by rule = lane->rule != CAIRN_BY_FORMAT ? lane->rule : r->timed ? CAIRN_BY_TIME : CAIRN_BY_INDEX;
    item->by[CAIRN_BY_TIME] = caused_by_time(lane, next, r);
    item->by[CAIRN_BY_INDEX] = cairn_spans_find(&lane->spans, r->epoch, r->address);
    item->rule = (uint8_t)rule;
    item->blame = item->by[rule].blame;
    item->tid = item->by[rule].tid;
}

static void take_other(struct cairn_lane *lane, const struct cairn_switch *next, struct cairn_item *item)
{
    const struct cairn_cpu *cpu = lane->cursor.cpu;
    const struct cairn_verdict ran = by_time(lane, next, lane->other.time);
    item->kind = CAIRN_ITEM_EVENT;
    item->time = lane->other.time;
    item->event = lane->other;
    item->blame = ran.blame;
    item->tid = ran.tid;
    if (lane->lock < cpu->locks.count && cpu->locks.items[lane->lock].payload == lane->other.payload)
        item->lock = &cpu->locks.items[lane->lock++]; /* they were indexed in this order */
    find_other(lane);
}

bool cairn_lane_next(struct cairn_lane *lane, struct cairn_item *item)
{
    const struct cairn_cpu *cpu = lane->cursor.cpu;
    const struct cairn_switch *next = cairn_cursor_peek(&lane->cursor);
    const struct cairn_record *r = lane->record < cpu->records.count ? &cpu->records.items[lane->record] : NULL;
    const struct cairn_epoch *e = lane->epoch < cpu->epochs.count ? &cpu->epochs.items[lane->epoch] : NULL;
    *item = (struct cairn_item){.cpu = lane->cpu};

    uint32_t hole = hole_ahead(lane, next);
    bool due = !lane->has_other || lane->holes_shown < lane->other_holes;
    if (hole != CAIRN_NO_HOLE && lane->holes_shown <= hole && due) { /* holes are numbered in their order */
        item->kind = CAIRN_ITEM_HOLE;
        item->hole = &cpu->holes.items[lane->holes_shown++];
        item->time = lane->has_last ? lane->last.time : next ? next->time : r ? r->time : e ? e->time : 0;
        item->until = next ? next->time : INT64_MAX;
        return true;
    }
    if (lane->has_other && (!next || lane->other.time <= next->time) && (!r || lane->other.time <= r->time) &&
        (!e || lane->other.time <= e->time)) {
        take_other(lane, next, item);
        return true;
    }
    if (r && (!next || r->time < next->time) && (!e || r->time <= e->time)) {
        lane->record++;
        item->kind = CAIRN_ITEM_RECORD;
        item->time = r->time;
        item->record = r;
        blame(lane, next, item);
        return true;
    }
    if (e && (!next || e->time < next->time)) {
        lane->epoch++;
        item->kind = CAIRN_ITEM_EPOCH;
        item->time = e->time;
        item->epoch = e;
        return true;
    }
    if (!cairn_cursor_next(&lane->cursor, &item->sw))
        return false;
    lane->last = item->sw;
    lane->has_last = true;
    item->kind = CAIRN_ITEM_SWITCH;
    item->time = item->sw.time;
    return true;
}

void cairn_timeline_init(struct cairn_timeline *t, const struct cairn_log *log, int cpu, bool compact, enum cairn_by by)
{
    t->lanes = cpu < 0 ? log->cpus : 1;
    t->lane = cairn_alloc(t->lanes * sizeof(*t->lane));
    for (uint32_t i = 0; i < t->lanes; i++) {
        struct cairn_lane *lane = &t->lane[i];
        cairn_lane_init(lane, log, cpu < 0 ? i : (uint32_t)cpu, compact, by);
        lane->has_ahead = cairn_lane_next(lane, &lane->ahead);
    }
}

bool cairn_timeline_any(struct cairn_timeline *t, struct cairn_item *item)
{
    struct cairn_lane *first = NULL;
    for (uint32_t i = 0; i < t->lanes; i++)
        if (t->lane[i].has_ahead && (!first || t->lane[i].ahead.time < first->ahead.time))
            first = &t->lane[i];
    if (!first)
        return false;
    *item = first->ahead;
    first->has_ahead = cairn_lane_next(first, &first->ahead);
    return true;
}

bool cairn_timeline_next(struct cairn_timeline *t, struct cairn_item *item)
{
    while (cairn_timeline_any(t, item))
        if (cairn_filter_passes(item))
            return true;
    return false;
}

void cairn_timeline_free(struct cairn_timeline *t)
{
    for (uint32_t i = 0; i < t->lanes; i++)
        cairn_lane_free(&t->lane[i]);
    free(t->lane);
    *t = (struct cairn_timeline){0};
}
