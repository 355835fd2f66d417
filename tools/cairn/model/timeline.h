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

#include "tools/cairn/model/attribution.h"
#include "tools/cairn/log/bts.h"
#include "tools/cairn/model/switches.h"
#include "tools/cairn/log/drains.h"

enum cairn_item_kind {
    CAIRN_ITEM_SWITCH,
    CAIRN_ITEM_RECORD,
    CAIRN_ITEM_EPOCH,
    CAIRN_ITEM_HOLE,
    CAIRN_ITEM_BRANCHES, /* a drain of the BTS buffer, and then its records: cairn_lane_branches */
    CAIRN_ITEM_EVENT,    /* any other */
};

struct cairn_item {
    int64_t time;
    uint32_t cpu;
    uint8_t kind;
    uint8_t blame;                           /* RECORD: enum cairn_blame, by the rule asked for; EVENT: by time */
    uint32_t tid;                            /* of these, with CAIRN_BLAME_KNOWN */
    uint8_t rule;                            /* RECORD: of the two, the one asked for */
    struct cairn_verdict by[CAIRN_BY_RULES]; /* RECORD: by each rule */
    struct cairn_switch sw;                  /* SWITCH */
    const struct cairn_record *record;       /* RECORD */
    const struct cairn_epoch *epoch;         /* EPOCH */
    const struct cairn_hole *hole;           /* HOLE */
    int64_t until;                           /* HOLE: the switch behind it; INT64_MAX: there is none */
    const struct cairn_bts_step *branches;   /* BRANCHES */
    struct cairn_event event;                /* EVENT */
    const struct cairn_lock_event *lock;     /* EVENT: the same as of a spin lock that was let go; NULL: it is none */
};

struct cairn_lane { /* one CPU's */
    const struct cairn_log *log;
    bool only_sampled;
    bool only_switches; /* and places where some are missing: there is nothing else on this CPU */
    enum cairn_by rule;
    uint32_t cpu;
    size_t record, epoch; /* of the group, next */
    struct {              /* the switch before */
        int64_t time;
        uint32_t new_tid;
        bool new_known;
    } last;
    bool has_last;
    uint32_t holes_shown;
    bool branches;                    /* they come, too */
    bool other_is_bts;                /* `other` is of branches: */
    struct cairn_bts_step ahead, bts; /* of `other`, of the item */
    struct cairn_event other;   /* the next of the events that are shown as they are; its time: or of the one before */
    bool has_other, has_others; /* `other` is there; there may be more */
    uint32_t other_holes;       /* of the CPU, that lie before it */
    struct cairn_lock_event let_go; /* of the item */
    uint32_t lock_configs;          /* passed so far */
    struct cairn_item item;         /* that came last, if it was no switch */
    struct cairn_item switches[2];  /* where the cursor unpacks them */
    /* these are large, and not zeroed */
    struct cairn_cursor cursor;
    struct cairn_stamps stamps;
    struct cairn_group group; /* whose records and epochs come next */
    struct cairn_walk walk;   /* behind `other` */
};

#define CAIRN_TIMELINE_GROUP 8u                                          /* lanes; groups; groups of groups */
#define CAIRN_TIMELINE_LOW   (MAX_CPUS / CAIRN_TIMELINE_GROUP)           /* groups of lanes */
#define CAIRN_TIMELINE_HIGH  (CAIRN_TIMELINE_LOW / CAIRN_TIMELINE_GROUP) /* groups of those */
_Static_assert(MAX_CPUS % (CAIRN_TIMELINE_GROUP * CAIRN_TIMELINE_GROUP) == 0 &&
                   CAIRN_TIMELINE_HIGH <= CAIRN_TIMELINE_GROUP,
               "groups of all CPUs");

struct cairn_timeline {
    uint32_t lanes;
    struct cairn_lane *lane;
    const struct cairn_item *next[MAX_CPUS]; /* of each lane, NULL: it has none */
    int64_t time[MAX_CPUS];                  /* of that, or INT64_MAX */
    /* the lane that comes first in each group, and its time; likewise of groups; the one that is first of all */
    uint32_t best[CAIRN_TIMELINE_LOW], high[CAIRN_TIMELINE_HIGH], first;
    int64_t best_time[CAIRN_TIMELINE_LOW], high_time[CAIRN_TIMELINE_GROUP];
    bool began; /* that one's item has been returned */
};

/* `compact`: the switches of 0525H, else of 0524H; `by`: the rule that fills an item's `blame` and `tid`. */
void cairn_lane_init(struct cairn_lane *lane, const struct cairn_log *log, uint32_t cpu, bool compact,
                     enum cairn_by by);
/* Those of branches come, too. Right behind cairn_lane_init. */
void cairn_lane_branches(struct cairn_lane *lane);
/* The next item, NULL: there is none. It, and what it points to, may be looked at until the next call. */
const struct cairn_item *cairn_lane_next(struct cairn_lane *lane);
void cairn_lane_free(struct cairn_lane *lane);

/* `cpu`: one CPU, or -1 for all; `branches`: they come, too. */
void cairn_timeline_init(struct cairn_timeline *t, const struct cairn_log *log, int cpu, bool compact, enum cairn_by by,
                         bool branches);
/* As cairn_lane_next; of what has the same time, the lowest CPU's comes first. The next that passes the filter
 * (filter.h); the next of all. */
const struct cairn_item *cairn_timeline_next(struct cairn_timeline *t);
const struct cairn_item *cairn_timeline_any(struct cairn_timeline *t);
void cairn_timeline_free(struct cairn_timeline *t);
