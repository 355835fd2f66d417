/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/model/filter.h"
#include "tools/cairn/log/locks.h"

#define GROUP CAIRN_TIMELINE_GROUP

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
    lane->only_switches =
        !lane->has_other && lane->group.ended && !lane->group.records.count && !lane->group.epochs.count;
}

void cairn_lane_init(struct cairn_lane *lane, const struct cairn_log *log, uint32_t cpu, bool compact, enum cairn_by by)
{
    memset(lane, 0, offsetof(struct cairn_lane, cursor));
    lane->cpu = lane->item.cpu = cpu;
    lane->rule = by;
    lane->log = log;
    lane->only_sampled = cairn_only_sampled(log);
    for (unsigned i = 0; i < 2; i++)
        lane->switches[i] = (struct cairn_item){.cpu = cpu, .kind = CAIRN_ITEM_SWITCH};
    cairn_cursor_init(&lane->cursor, log, cpu, compact);
    cairn_cursor_slots(&lane->cursor, &lane->switches[0].sw, &lane->switches[1].sw);
    cairn_stamps_init(&lane->stamps, log, cpu, compact);
    cairn_group_init(&lane->group, log, cpu);
    begin_others(lane, log->cpu[cpu].undecoded);
}

void cairn_lane_branches(struct cairn_lane *lane)
{
    const struct cairn_cpu *cpu = lane->cursor.cpu;
    lane->branches = cpu->bts_epochs;
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
    item->event = lane->other;
    item->blame = ran.blame;
    item->tid = ran.tid;
    item->lock = cairn_lock_of(&lane->let_go, &lane->other) ? &lane->let_go : NULL;
    lane->let_go.configs = lane->lock_configs;
    if (lane->lock_configs < lane->cursor.cpu->lock_configs.count) /* else the file has changed */
        lane->lock_configs += cairn_lock_configures(&lane->other);
    find_other(lane);
}

static const struct cairn_item *take_switch(struct cairn_lane *lane)
{
    struct cairn_item *item = &lane->switches[lane->cursor.ahead];
    const struct cairn_switch *sw = cairn_cursor_take(&lane->cursor);
    lane->last.time = item->time = sw->time;
    lane->last.new_tid = sw->new_tid;
    lane->last.new_known = sw->new_known;
    lane->has_last = true;
    return item;
}

const struct cairn_item *cairn_lane_next(struct cairn_lane *lane)
{
    struct cairn_item *item = &lane->item;
    const struct cairn_switch *next = cairn_cursor_peek(&lane->cursor);
    if (lane->only_switches && next && next->hole == CAIRN_NO_HOLE)
        return take_switch(lane);
    find_group(lane);
    const struct cairn_group *g = &lane->group;
    const struct cairn_record *r = lane->record < g->records.count ? &g->records.items[lane->record] : NULL;
    const struct cairn_epoch *e = lane->epoch < g->epochs.count ? &g->epochs.items[lane->epoch] : NULL;

    uint32_t hole = hole_ahead(lane, next);
    bool due = !lane->has_other || lane->holes_shown < lane->other_holes;
    if (hole != CAIRN_NO_HOLE && lane->holes_shown <= hole && due) { /* holes are numbered in their order */
        item->kind = CAIRN_ITEM_HOLE;
        item->hole = &lane->cursor.cpu->holes.items[lane->holes_shown++];
        item->time = lane->has_last                    ? lane->last.time
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

/* ---- all CPUs ---------------------------------------------------------------------------------------------------- */

/* The place of the least of GROUP times; of equal ones the first. Nobody could guess which it is: no branches. */
static uint32_t least(const int64_t time[GROUP])
{
    uint32_t at = 0;
    int64_t best = time[0];
    for (uint32_t i = 1; i < GROUP; i++) {
        const bool less = time[i] < best;
        at = less ? i : at;
        best = less ? time[i] : best;
    }
    return at;
}

/* The lane's next item comes: which lane is first now? */
static void advance(struct cairn_timeline *t, uint32_t lane)
{
    const struct cairn_item *next = t->next[lane] = cairn_lane_next(&t->lane[lane]);
    const uint32_t group = lane / GROUP;
    t->time[lane] = next ? next->time - (next->time == INT64_MAX) : INT64_MAX;
    const uint32_t best = GROUP * group + least(&t->time[GROUP * group]);
    t->best[group] = best;
    t->best_time[group] = t->time[best];
    t->first = best;
    if (t->lanes <= GROUP)
        return;
    const uint32_t above = group / GROUP, low = GROUP * above + least(&t->best_time[GROUP * above]);
    t->first = t->high[above] = t->best[low];
    t->high_time[above] = t->best_time[low];
    if (t->lanes > GROUP * GROUP)
        t->first = t->high[least(t->high_time)];
}

void cairn_timeline_init(struct cairn_timeline *t, const struct cairn_log *log, int cpu, bool compact, enum cairn_by by,
                         bool branches)
{
    *t = (struct cairn_timeline){.lanes = cpu < 0 ? log->cpus : 1};
    for (uint32_t i = 0; i < MAX_CPUS; i++)
        t->time[i] = t->best_time[i / GROUP] = t->high_time[i / (MAX_CPUS / GROUP)] = INT64_MAX;
    t->lane = cairn_alloc(t->lanes * sizeof(*t->lane));
    for (uint32_t i = 0; i < t->lanes; i++) {
        cairn_lane_init(&t->lane[i], log, cpu < 0 ? i : (uint32_t)cpu, compact, by);
        if (branches)
            cairn_lane_branches(&t->lane[i]);
        advance(t, i);
    }
}

const struct cairn_item *cairn_timeline_any(struct cairn_timeline *t)
{
    if (t->began && t->next[t->first]) /* only now: what it pointed to may lie where the next comes */
        advance(t, t->first);
    t->began = true;
    return t->next[t->first];
}

const struct cairn_item *cairn_timeline_next(struct cairn_timeline *t)
{
    const struct cairn_item *item;
    do
        item = cairn_timeline_any(t);
    while (item && !cairn_filter_passes(item));
    return item;
}

void cairn_timeline_free(struct cairn_timeline *t)
{
    for (uint32_t i = 0; i < t->lanes; i++)
        cairn_lane_free(&t->lane[i]);
    free(t->lane);
    *t = (struct cairn_timeline){0};
}
