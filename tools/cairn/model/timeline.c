/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/model/filter.h"

#define BLOCKS 32u /* that may be ahead, of all lanes */
#define STEPS  4u  /* of each lane, where a slice is not worth while */

/* The lanes' switches are decoded ahead, on other cores. */
static void find_help(struct cairn_timeline *t, uint32_t helpers)
{
    const uint32_t room = 2 + (t->lanes < BLOCKS ? BLOCKS / t->lanes : 1);
    t->blocks = cairn_alloc((size_t)t->lanes * room * sizeof(*t->blocks));
    for (uint32_t i = 0; i < t->lanes; i++) {
        cairn_cursor_share(&t->lane[i].cursor, t->blocks + (size_t)i * room, room);
        t->source[i] = &t->lane[i].cursor.source;
    }
    t->ahead = cairn_ahead_new(t->source, t->lanes, helpers);
    for (uint32_t i = 0; i < t->lanes; i++)
        t->lane[i].cursor.ahead = t->ahead;
}

void cairn_timeline_init(struct cairn_timeline *t, const struct cairn_log *log, int cpu, bool compact, enum cairn_by by,
                         bool branches)
{
    memset(t, 0, sizeof(*t));
    t->lanes = cpu < 0 ? log->cpus : 1;
    t->filtered = cairn_filter_on();
    t->lane = cairn_alloc(t->lanes * sizeof(*t->lane));
    for (uint32_t i = 0; i < t->lanes; i++) {
        cairn_lane_init(&t->lane[i], log, cpu < 0 ? i : (uint32_t)cpu, compact, by);
        if (branches)
            cairn_lane_branches(&t->lane[i]);
    }
    if (log->helpers && t->lanes)
        find_help(t, log->helpers);
    for (uint32_t i = 0; i < t->lanes; i++)
        t->next[i] = cairn_lane_next(&t->lane[i]);
}

/* ---- item by item ------------------------------------------------------------------------------------------------ */

static struct cairn_rank rank_of(const struct cairn_item *next, uint64_t lane)
{
    return (struct cairn_rank){next ? next->time - (next->time == INT64_MAX) : INT64_MAX, lane};
}

/* Who comes first goes on; of equal times the lowest lane's. Nobody could guess which it is: no branches. */
static inline struct cairn_rank play(struct cairn_rank *loser, struct cairn_rank first)
{
    const struct cairn_rank other = *loser;
    const bool lost = (other.time < first.time) | ((other.time == first.time) & (other.lane < first.lane));
    const uint64_t time = ((uint64_t)first.time ^ (uint64_t)other.time) & -(uint64_t)lost;
    const uint64_t lane = (first.lane ^ other.lane) & -(uint64_t)lost;
    *loser = (struct cairn_rank){(int64_t)((uint64_t)other.time ^ time), other.lane ^ lane};
    return (struct cairn_rank){(int64_t)((uint64_t)first.time ^ time), first.lane ^ lane};
}

static void begin_steps(struct cairn_timeline *t)
{
    struct cairn_rank winner[2 * MAX_CPUS];
    for (t->leaves = 1; t->leaves < t->lanes; t->leaves *= 2)
        ;
    for (uint32_t i = 0; i < t->leaves; i++)
        winner[t->leaves + i] = rank_of(i < t->lanes ? t->next[i] : NULL, i);
    for (uint32_t i = t->leaves - 1; i; i--) {
        t->loser[i] = winner[2 * i];
        winner[i] = play(&t->loser[i], winner[2 * i + 1]);
    }
    t->first = winner[1].lane;
    t->steps = STEPS * t->lanes;
}

/* The first lane's next item comes: which is first now? */
static void step(struct cairn_timeline *t)
{
    const uint64_t lane = t->first;
    t->next[lane] = cairn_lane_next(&t->lane[lane]);
    struct cairn_rank first = rank_of(t->next[lane], lane);
    for (uint64_t i = (t->leaves + lane) / 2; i; i /= 2)
        first = play(&t->loser[i], first);
    t->first = first.lane;
}

/* ---- in slices of time ------------------------------------------------------------------------------------------- */

/* How many of `count` items in order are in front of `time`; `with`: or at it. */
static uint32_t count_before(const struct cairn_item *item, uint32_t count, int64_t time, bool with)
{
    uint32_t low = 0;
    while (low < count) {
        const uint32_t middle = low + (count - low) / 2;
        if (item[middle].time < time || (with && item[middle].time == time))
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* The one or the other; the next one or the same: by a mask. */
static inline const struct cairn_placed *pick(const struct cairn_placed *no, const struct cairn_placed *yes,
                                              uint64_t mask)
{
    return (const void *)((uintptr_t)no + (((uintptr_t)yes - (uintptr_t)no) & mask));
}

static inline const struct cairn_placed *behind(const struct cairn_placed *p, uint64_t mask)
{
    return (const void *)((const char *)p + (sizeof(*p) & mask));
}

static inline const struct cairn_placed *before(const struct cairn_placed *p, uint64_t mask)
{
    return (const void *)((const char *)p - (sizeof(*p) & mask));
}

/* In front of a list, and behind it. */
static const struct cairn_placed least = {0, NULL}, most = {UINT64_MAX, NULL};

/* A list of `count`, of two; of equal times the first one's come first. Nobody could guess which is next, so there are
 * no branches; and each step waits for the one before it, so the list is made from both of its ends at a time. */
static void merge(struct cairn_placed *to, const struct cairn_placed *a, uint32_t a_count, const struct cairn_placed *b,
                  uint32_t b_count)
{
    const struct cairn_placed *a_end = a + a_count - 1, *b_end = b + b_count - 1;
    const uint32_t count = a_count + b_count;
    for (uint32_t i = 0; i < (count + 1) / 2; i++) {
        const uint64_t second = -(uint64_t)(b->time < a->time), last = -(uint64_t)(b_end->time < a_end->time);
        to[i] = *pick(a, b, second);
        to[count - 1 - i] = *pick(b_end, a_end, last);
        a = behind(a, ~second);
        b = behind(b, second);
        a_end = before(a_end, last);
        b_end = before(b_end, ~last);
    }
    to[-1] = least;
    to[count] = most;
}

/* So many of each lane's items, from its next one on, two lanes' at a time, then two of these lists, and so on. */
static void merge_runs(struct cairn_timeline *t, const uint32_t *run)
{
    struct cairn_list {
        struct cairn_placed *at;
        uint32_t count;
    } list[MAX_CPUS + 1];
    struct cairn_placed *to = t->placed[0];
    uint32_t lists = 0, which = 0;
    for (uint32_t i = 0; i < t->lanes; i++) {
        t->spent[i] = run[i];
        if (!run[i])
            continue;
        *to++ = least;
        list[lists++] = (struct cairn_list){to, run[i]};
        for (uint32_t k = 0; k < run[i]; k++)
            *to++ = (struct cairn_placed){(uint64_t)t->next[i][k].time ^ (uint64_t)INT64_MIN, &t->next[i][k]};
        *to++ = most;
        cairn_lane_pass(&t->lane[i], t->next[i] + run[i]);
    }
    while (lists > 1) {
        uint32_t merged = 0;
        if (lists % 2) { /* an empty one */
            to[0] = least;
            to[1] = most;
            list[lists++] = (struct cairn_list){to + 1, 0};
        }
        to = t->placed[which = !which];
        for (uint32_t i = 0; i < lists; i += 2) {
            const struct cairn_list *a = &list[i], *b = &list[i + 1];
            const uint32_t count = a->count + b->count;
            merge(to + 1, a->at, a->count, b->at, b->count);
            list[merged++] = (struct cairn_list){to + 1, count};
            to += count + 2;
        }
        lists = merged;
    }
    t->at = list[0].at;
    t->stop = t->at + list[0].count;
}

/* Merges the switches that nothing else can come between, up to the moment at which the first lane has no more of them.
 * False: there are few. */
static bool merge_slice(struct cairn_timeline *t)
{
    const uint32_t share = t->lanes ? CAIRN_SLICE_ITEMS / t->lanes : 0;
    uint32_t run[MAX_CPUS], count = 0, from = UINT32_MAX;
    int64_t until = INT64_MAX;
    for (uint32_t i = 0; i < t->lanes; i++) {
        const struct cairn_item *next = t->next[i];
        if (next && (next->kind != CAIRN_ITEM_SWITCH || next->time == INT64_MIN))
            return false;
        run[i] = next ? (uint32_t)(cairn_lane_run(&t->lane[i], next, share) - next) : 0;
        if (run[i] && next[run[i] - 1].time < until) {
            until = next[run[i] - 1].time;
            from = i;
        }
    }
    for (uint32_t i = 0; i < t->lanes; i++)
        count += run[i] = count_before(t->next[i], run[i], until, i <= from);
    if (!count || count < STEPS * t->lanes)
        return false;
    merge_runs(t, run);
    return true;
}

const struct cairn_item *cairn_timeline_more(struct cairn_timeline *t)
{
    if (t->stepped) /* only now: what it pointed to may lie where the next comes */
        step(t);
    for (uint32_t i = 0; i < t->lanes && t->sliced; i++)
        if (t->spent[i])
            t->next[i] = cairn_lane_next(&t->lane[i]);
    t->stepped = t->sliced = false;
    if (!t->steps) {
        t->sliced = merge_slice(t);
        if (t->sliced)
            return (t->at++)->item;
        begin_steps(t);
    }
    t->steps--;
    t->stepped = t->next[t->first];
    return t->next[t->first];
}

const struct cairn_item *cairn_timeline_passing(struct cairn_timeline *t, const struct cairn_item *item)
{
    while (item && !cairn_filter_passes(item))
        item = cairn_timeline_any(t);
    return item;
}

void cairn_timeline_free(struct cairn_timeline *t)
{
    cairn_ahead_free(t->ahead);
    for (uint32_t i = 0; i < t->lanes; i++)
        cairn_lane_free(&t->lane[i]);
    free(t->blocks);
    free(t->lane);
    memset(t, 0, sizeof(*t));
}
