/* SPDX-License-Identifier: MIT */
/*
 * Everything in time order, of one CPU or merged over all: switches, PEBS records with the thread that caused them,
 * drains, all other events, and the places where something is missing; and branches of BTS for callers that want them.
 *
 * By the rule of time (attribution.h) the thread that caused a record is the one that leaves at the next switch. The
 * thread is unknown, and the reason is given, if
 *   - the record and a switch are in the same unit of the clock;
 *   - something may be missing between the switches around it;
 *   - it comes after the CPU's last switch, and that one does not name the incoming thread;
 *   - only sampled threads are counted, and that thread is not sampled.
 */
#pragma once

#include "tools/cairn/log/drains.h"
#include "tools/cairn/log/locks.h"
#include "tools/cairn/model/switches.h"

struct cairn_lane { /* one CPU's */
    const struct cairn_log *log;
    bool only_sampled;
    enum cairn_by rule;
    uint32_t cpu;
    size_t record, epoch;            /* of the group, next */
    int64_t due;                     /* switches before this come next, up to a hole */
    const struct cairn_switch *last; /* the one before, NULL: none */
    uint32_t holes_shown;
    bool branches;                    /* they come, too */
    bool other_is_bts;                /* `other` is of branches: */
    struct cairn_bts_step ahead, bts; /* of `other`, of the item */
    struct cairn_event other;   /* the next of the events that are shown as they are; its time: or of the one before */
    bool has_other, has_others; /* `other` is there; there may be more */
    uint32_t other_holes;       /* of the CPU, that lie before it */
    struct cairn_lock_event let_go; /* of the item */
    uint32_t lock_configs;          /* passed so far */
    struct cairn_event event;       /* of the item */
    struct cairn_item item;         /* that came last, if it was no switch */
    /* these are large, and not zeroed */
    struct cairn_stamps stamps;
    struct cairn_group group; /* whose records and epochs come next */
    struct cairn_walk walk;   /* behind `other` */
    struct cairn_cursor cursor;
};

/* A slice of time: its items have a number each. Their order is that of the numbers with the time since the slice's
 * oldest above them, from 1 on. */
#define CAIRN_SLICE_BITS  9
#define CAIRN_SLICE_ITEMS (1u << CAIRN_SLICE_BITS)
#define CAIRN_SLICE_TIME  ((UINT64_C(1) << (64 - CAIRN_SLICE_BITS)) - 2) /* a slice is shorter */

struct cairn_rank {
    int64_t time;
    uint64_t lane;
};

/* All lanes', merged. Switches come in slices of time as far as nothing else can come between them, all else comes item
 * by item. */
struct cairn_timeline {
    const uint64_t *at, *stop; /* left of the slice's order */
    uint32_t lanes;
    struct cairn_lane *lane;                        /* of each CPU that has something, in their order */
    bool filtered;                                  /* some items do not pass */
    const struct cairn_item *next[CAIRN_CPUS_MOST]; /* of each lane, NULL: it has none */
    /* Of the slice: which lanes have items in it and must look for their next one. */
    bool sliced, spent[CAIRN_CPUS_MOST];
    const struct cairn_item *item[CAIRN_SLICE_ITEMS];
    uint64_t order[2][CAIRN_SLICE_ITEMS + 2 * CAIRN_CPUS_MOST];
    /* Item by item, so many times yet: the lane that is first, and a tree of those that have lost to it (Knuth, volume
     * 3, 5.4.1). */
    uint32_t steps, leaves;
    bool stepped; /* the first one's item has been returned */
    uint64_t first;
    struct cairn_rank loser[CAIRN_CPUS_MOST];
    /* Where others help. */
    struct cairn_ahead *ahead;
    struct cairn_source *source[CAIRN_CPUS_MOST];
    struct cairn_block *blocks;
};

/* `compact`: the switches of 0525H, else of 0524H; `by`: the rule that fills an item's `blame` and `tid`. */
void cairn_lane_init(struct cairn_lane *lane, const struct cairn_log *log, uint32_t cpu, bool compact,
                     enum cairn_by by);
/* Those of branches come, too. Right behind cairn_lane_init. */
void cairn_lane_branches(struct cairn_lane *lane);
/* The next item, NULL: there is none. It, and what it points to, may be looked at until the next call. */
const struct cairn_item *cairn_lane_next(struct cairn_lane *lane);
/* `next` came last, and is a switch. Behind how many, `next` included and at most `most`, all that may come in between
 * is: these are in order and lie side by side. They have come with cairn_lane_pass. */
const struct cairn_item *cairn_lane_run(const struct cairn_lane *lane, const struct cairn_item *next, uint32_t most);
void cairn_lane_pass(struct cairn_lane *lane, const struct cairn_item *to);
void cairn_lane_free(struct cairn_lane *lane);

/* `cpu`: one CPU, or -1 for all; `branches`: they come, too. */
void cairn_timeline_init(struct cairn_timeline *t, const struct cairn_log *log, int cpu, bool compact, enum cairn_by by,
                         bool branches);
/* Parts of the next two. */
static inline const struct cairn_item *cairn_timeline_placed(struct cairn_timeline *t)
{
    return t->item[*t->at++ % CAIRN_SLICE_ITEMS];
}
const struct cairn_item *cairn_timeline_more(struct cairn_timeline *t);
const struct cairn_item *cairn_timeline_passing(struct cairn_timeline *t, const struct cairn_item *item);
/* As cairn_lane_next; of what has the same time, the lowest CPU's comes first. The next of all; the next that passes
 * the filter (filter.h). */
static inline const struct cairn_item *cairn_timeline_any(struct cairn_timeline *t)
{
    return t->at != t->stop ? cairn_timeline_placed(t) : cairn_timeline_more(t);
}
static inline const struct cairn_item *cairn_timeline_next(struct cairn_timeline *t)
{
    const struct cairn_item *item = cairn_timeline_any(t);
    return t->filtered ? cairn_timeline_passing(t, item) : item;
}
void cairn_timeline_free(struct cairn_timeline *t);
