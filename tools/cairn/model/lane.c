/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/log/locks.h"

/* The next event that is neither switches nor the Debug Store's, but branches where they are asked for. */
static void find_other(struct cairn_lane *lane)
{
    int64_t time = lane->other.time;
    lane->has_other = false;
    while (lane->has_others && cairn_walk_next(&lane->walk, &lane->other)) {
        if (lane->walk.hole != CAIRN_NO_HOLE)
            lane->other_holes = lane->walk.hole + 1;
        if (!lane->other.has_time)
            lane->other.time = time;
        time = lane->other.time;
        lane->other_is_bts = lane->branches && cairn_bts_follow(&lane->ahead, &lane->other);
        lane->has_other = lane->other_is_bts || !cairn_event_decoded(&lane->other);
        if (lane->has_other) {
            cairn_walk_hold(&lane->walk);
            return;
        }
    }
    lane->has_others = false;
}

/* Records and epochs that come next, where those there were have all come. */
static void find_group(struct cairn_lane *lane)
{
    uint32_t from = UINT32_MAX, to = 0;
    if (lane->record < lane->group.records.count || lane->epoch < lane->group.epochs.count ||
        !cairn_group_next(&lane->group))
        return;
    lane->record = lane->epoch = 0;
    for (size_t i = 0; i < lane->group.records.count; i++) {
        const uint32_t epoch = lane->group.records.items[i].epoch;
        from = epoch < from ? epoch : from;
        to = epoch > to ? epoch : to;
    }
    if (lane->group.records.count)
        cairn_stamps_read(&lane->stamps, from, to);
}

/* From the CPU's first event on. */
static void begin_others(struct cairn_lane *lane, bool any)
{
    const struct cairn_session *session = &lane->log->session;
    cairn_walk_init(&lane->walk, lane->log, lane->cpu);
    lane->has_others = any;
    lane->other_holes = 0;
    lane->other.time = session->start_known ? session->start : 0;
    find_other(lane);
    lane->due = INT64_MIN;
}

void cairn_lane_init(struct cairn_lane *lane, const struct cairn_log *log, uint32_t cpu, bool compact, enum cairn_by by)
{
    memset(lane, 0, offsetof(struct cairn_lane, stamps));
    lane->cpu = lane->item.cpu = cpu;
    lane->rule = by;
    lane->log = log;
    lane->only_sampled = cairn_only_sampled(log);
    cairn_cursor_init(&lane->cursor, log, cpu, compact);
    cairn_stamps_init(&lane->stamps, log, cpu, compact);
    cairn_group_init(&lane->group, log, cpu);
    begin_others(lane, log->cpu[cpu].undecoded);
}

void cairn_lane_branches(struct cairn_lane *lane)
{
    const struct cairn_cpu *cpu = lane->cursor.cpu;
    lane->branches = cpu->bts.epochs;
    if (lane->branches)
        begin_others(lane, true);
}

void cairn_lane_free(struct cairn_lane *lane)
{
    cairn_stamps_free(&lane->stamps);
    cairn_group_free(&lane->group);
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
    if ((lane->last && lane->last->time == time) || (next && next->time == time))
        v.blame = CAIRN_BLAME_SAME_UNIT;
    else if (missing_around(lane, next, time))
        v.blame = CAIRN_BLAME_LOSS;
    else if (next)
        v.tid = next->old_tid;
    else if (lane->last && lane->last->new_known)
        v.tid = lane->last->new_tid;
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
    item->by[CAIRN_BY_INDEX] = cairn_stamps_find(&lane->stamps, r->epoch, r->index);
    item->rule = (uint8_t)rule;
    item->blame = item->by[rule].blame;
    item->tid = item->by[rule].tid;
}

static void take_other(struct cairn_lane *lane, const struct cairn_switch *next)
{
    struct cairn_item *item = &lane->item;
    const struct cairn_verdict ran = by_time(lane, next, lane->other.time);
    item->time = lane->other.time;
    if (lane->other_is_bts) {
        lane->bts = lane->ahead;
        item->kind = CAIRN_ITEM_BRANCHES;
        item->branches = &lane->bts;
        find_other(lane);
        return;
    }
    item->kind = CAIRN_ITEM_EVENT;
    lane->event = lane->other;
    item->event = &lane->event;
    item->blame = ran.blame;
    item->tid = ran.tid;
    item->lock = cairn_lock_of(&lane->let_go, &lane->other) ? &lane->let_go : NULL;
    lane->let_go.configs = lane->lock_configs;
    if (lane->lock_configs < lane->cursor.cpu->locks.configs.count) /* else the file has changed */
        lane->lock_configs += cairn_lock_configures(&lane->other);
    find_other(lane);
}

static const struct cairn_item *take_switch(struct cairn_lane *lane)
{
    lane->last = &lane->cursor.item->sw;
    return lane->cursor.item++;
}

/* Where anything may come next, or a new block. */
static const struct cairn_item *find_next(struct cairn_lane *lane)
{
    struct cairn_item *item = &lane->item;
    const struct cairn_switch *next = cairn_cursor_peek(&lane->cursor);
    find_group(lane);
    const struct cairn_group *g = &lane->group;
    const struct cairn_record *r = lane->record < g->records.count ? &g->records.items[lane->record] : NULL;
    const struct cairn_epoch *e = lane->epoch < g->epochs.count ? &g->epochs.items[lane->epoch] : NULL;

    lane->due = lane->has_other ? lane->other.time : INT64_MAX;
    lane->due = r && r->time < lane->due ? r->time : lane->due;
    lane->due = e && e->time < lane->due ? e->time : lane->due;

    uint32_t hole = hole_ahead(lane, next);
    bool due = !lane->has_other || lane->holes_shown < lane->other_holes;
    if (hole != CAIRN_NO_HOLE && lane->holes_shown <= hole && due) { /* holes are numbered in their order */
        item->kind = CAIRN_ITEM_HOLE;
        item->hole = &lane->cursor.cpu->holes.items[lane->holes_shown++];
        item->time = lane->last                        ? lane->last->time
                     : next                            ? next->time
                     : r && (!e || r->time <= e->time) ? r->time
                     : e                               ? e->time
                                                       : 0;
        item->until = next ? next->time : INT64_MAX;
        return item;
    }
    if (lane->has_other && (!next || lane->other.time <= next->time) && (!r || lane->other.time <= r->time) &&
        (!e || lane->other.time <= e->time)) {
        take_other(lane, next);
        return item;
    }
    if (r && (!next || r->time < next->time) && (!e || r->time <= e->time)) {
        lane->record++;
        item->kind = CAIRN_ITEM_RECORD;
        item->time = r->time;
        item->record = r;
        blame(lane, next, item);
        return item;
    }
    if (e && (!next || e->time < next->time)) {
        lane->epoch++;
        item->kind = CAIRN_ITEM_EPOCH;
        item->time = e->time;
        item->epoch = e;
        return item;
    }
    return next ? take_switch(lane) : NULL;
}

const struct cairn_item *cairn_lane_next(struct cairn_lane *lane)
{
    const struct cairn_cursor *c = &lane->cursor;
    const bool quick = c->item != c->end && c->item->time < lane->due && c->item->sw.hole == CAIRN_NO_HOLE;
    return quick ? take_switch(lane) : find_next(lane);
}

const struct cairn_item *cairn_lane_run(const struct cairn_lane *lane, const struct cairn_item *next, uint32_t most)
{
    const struct cairn_cursor *c = &lane->cursor;
    const struct cairn_item *low = next + 1, *high = c->quiet - next < most ? c->quiet : next + most;
    if (low >= high || high[-1].time < lane->due)
        return low < high ? high : low;
    while (low < high) { /* the first that is not in front of all else */
        const struct cairn_item *middle = low + (high - low) / 2;
        if (middle->time < lane->due)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void cairn_lane_pass(struct cairn_lane *lane, const struct cairn_item *to)
{
    lane->last = &to[-1].sw;
    lane->cursor.item = to;
}
