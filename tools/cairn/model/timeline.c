/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/model/filter.h"

#define BLOCKS 8u /* that may be ahead, of all lanes */
#define STEPS  4u /* of each lane, where a slice is not worth while */

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

/* A lane is large, and a file may say that its machine had thousands of CPUs. */
static bool has_lane(const struct cairn_cpu *cpu)
{
    return cpu->piece_count || cpu->tail != CAIRN_NO_HOLE;
}

void cairn_timeline_init(struct cairn_timeline *t, const struct cairn_log *log, int cpu, bool compact, enum cairn_by by,
                         bool branches)
{
    const uint32_t first = cpu < 0 ? 0 : (uint32_t)cpu, end = cpu < 0 ? log->cpus : first + 1;
    memset(t, 0, sizeof(*t));
    for (uint32_t c = first; c < end; c++)
        t->lanes += has_lane(&log->cpu[c]);
    t->filtered = cairn_filter_on();
    t->lane = cairn_alloc(t->lanes * sizeof(*t->lane));
    for (uint32_t c = first, i = 0; c < end; c++) {
        if (!has_lane(&log->cpu[c]))
            continue;
        cairn_lane_init(&t->lane[i], log, c, compact, by);
        if (branches)
            cairn_lane_branches(&t->lane[i]);
        i++;
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
    struct cairn_rank winner[2 * CAIRN_CPUS_MOST];
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

/* A list of two, which have 0 in front and UINT64_MAX behind; so has it. Nobody could guess which is next, so there are
 * no branches; and each step waits for the one before it, so the list is made from both of its ends at a time. */
static void merge(uint64_t *to, const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count)
{
    const uint64_t *a_last = a + a_count - 1, *b_last = b + b_count - 1;
    uint64_t *last = to + a_count + b_count - 1;
    ptrdiff_t of_a = 0, last_of_a = 0; /* taken from the two ends of a */
    to[-1] = 0;
    last[1] = UINT64_MAX;
    for (ptrdiff_t i = 0; to + i <= last - i; i++) {
        const uint64_t x = a[of_a], y = b[i - of_a], x_last = a_last[-last_of_a], y_last = b_last[last_of_a - i];
        to[i] = x < y ? x : y;
        last[-i] = x_last > y_last ? x_last : y_last;
        of_a += x < y;
        last_of_a += x_last > y_last;
    }
}

/* So many of each lane's items, from its next one on, two lanes' at a time, then two of these lists, and so on. None is
 * older than `oldest`. */
static void merge_runs(struct cairn_timeline *t, const uint32_t *run, int64_t oldest)
{
    struct cairn_list {
        uint64_t *at;
        uint32_t count;
    } list[CAIRN_CPUS_MOST + 1];
    uint64_t *to = t->order[0];
    const uint64_t least = (1 - (uint64_t)oldest) << CAIRN_SLICE_BITS;
    uint32_t lists = 0, which = 0;
    size_t number = 0;
    for (uint32_t i = 0; i < t->lanes; i++) {
        t->spent[i] = run[i];
        if (!run[i])
            continue;
        *to++ = 0;
        list[lists++] = (struct cairn_list){to, run[i]};
        for (const struct cairn_item *item = t->next[i], *end = item + run[i]; item < end; item++, number++) {
            *to++ = ((uint64_t)item->time << CAIRN_SLICE_BITS) + least + number;
            t->item[number] = item;
        }
        *to++ = UINT64_MAX;
        cairn_lane_pass(&t->lane[i], t->next[i] + run[i]);
    }
    while (lists > 1) {
        uint32_t merged = 0;
        if (lists % 2) { /* an empty one */
            to[0] = 0;
            to[1] = UINT64_MAX;
            list[lists++] = (struct cairn_list){to + 1, 0};
        }
        to = t->order[which = !which];
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
    uint32_t run[CAIRN_CPUS_MOST], count = 0, from = UINT32_MAX;
    int64_t until = INT64_MAX, oldest = INT64_MAX;
    for (uint32_t i = 0; i < t->lanes; i++) {
        const struct cairn_item *next = t->next[i];
        if (next && (next->kind != CAIRN_ITEM_SWITCH || next->time == INT64_MIN))
            return false;
        run[i] = next ? (uint32_t)(cairn_lane_run(&t->lane[i], next, share) - next) : 0;
        if (run[i] && next[run[i] - 1].time < until) {
            until = next[run[i] - 1].time;
            from = i;
        }
        if (run[i] && next->time < oldest)
            oldest = next->time;
    }
    for (uint32_t i = 0; i < t->lanes; i++)
        count += run[i] = count_before(t->next[i], run[i], until, i <= from);
    if (!count || count < STEPS * t->lanes || (uint64_t)until - (uint64_t)oldest >= CAIRN_SLICE_TIME)
        return false;
    merge_runs(t, run, oldest);
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
            return cairn_timeline_placed(t);
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
