/* SPDX-License-Identifier: MIT */
/*
 * Everything in the order of time, of one CPU or merged over all: switches, PEBS records with the thread that caused
 * them, drains, all other events, and the places where something is missing.
 *
 * By the rule of time (attribution.h) the thread that caused a record is the one that leaves at the next switch. It is
 * not told, and the reason is given, where
 *   - the record and a switch fall into the same unit of the clock;
 *   - something may be missing between the switches around it;
 *   - it comes after the CPU's last switch, and that one does not say who came;
 *   - only sampled threads are counted, and that one is none.
 */
#pragma once

#include "tools/cairn/attribution.h"
#include "tools/cairn/cursor.h"

enum cairn_item_kind {
    CAIRN_ITEM_SWITCH,
    CAIRN_ITEM_RECORD,
    CAIRN_ITEM_EPOCH,
    CAIRN_ITEM_HOLE,
    CAIRN_ITEM_EVENT, /* any other */
};

struct cairn_item {
    int64_t time;
    uint32_t cpu;
    uint8_t kind;
    uint8_t blame;                           /* RECORD: enum cairn_blame, by the rule asked for; EVENT: by time */
    uint32_t tid;                            /* of these, with CAIRN_BLAME_KNOWN */
    uint8_t rule; /* RECORD: of the two, the one asked for */
    struct cairn_verdict by[CAIRN_BY_RULES]; /* RECORD: by each rule */
    struct cairn_switch sw;                  /* SWITCH */
    const struct cairn_record *record;       /* RECORD */
    const struct cairn_epoch *epoch;         /* EPOCH */
    const struct cairn_hole *hole;           /* HOLE */
    int64_t until;                           /* HOLE: the switch behind it; INT64_MAX: there is none */
    struct cairn_event event;                /* EVENT */
    const struct cairn_lock_event *lock;     /* EVENT: the same as of a spin lock that was let go; NULL: it is none */
};

struct cairn_lane { /* one CPU's */
    const struct cairn_log *log;
    bool only_sampled;
    struct cairn_cursor cursor;
    struct cairn_spans spans;
    enum cairn_by rule;
    uint32_t cpu;
    size_t record, epoch, lock;
    struct cairn_switch last; /* the switch before */
    bool has_last;
    uint32_t holes_shown;
    uint32_t piece, at;       /* behind `other` */
    struct cairn_event other; /* the next of the events that are shown as they are; its time: or of the one before */
    bool has_other;
    uint32_t other_holes; /* of the CPU, that lie before it */
    struct cairn_item ahead;
    bool has_ahead;
};

struct cairn_timeline {
    uint32_t lanes;
    struct cairn_lane *lane;
};

/* `compact`: the switches of 0525H, else of 0524H; `by`: the rule that fills an item's `blame` and `tid`. */
void cairn_lane_init(struct cairn_lane *lane, const struct cairn_log *log, uint32_t cpu, bool compact,
                     enum cairn_by by);
bool cairn_lane_next(struct cairn_lane *lane, struct cairn_item *item);
void cairn_lane_free(struct cairn_lane *lane);

/* `cpu`: one CPU, or -1 for all. */
void cairn_timeline_init(struct cairn_timeline *t, const struct cairn_log *log, int cpu, bool compact,
                         enum cairn_by by);
/* The next that passes the filter (filter.h); the next of all. */
bool cairn_timeline_next(struct cairn_timeline *t, struct cairn_item *item);
bool cairn_timeline_any(struct cairn_timeline *t, struct cairn_item *item);
void cairn_timeline_free(struct cairn_timeline *t);
