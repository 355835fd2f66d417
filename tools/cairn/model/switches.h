/* SPDX-License-Identifier: MIT */
/*
 * Goes through the context switches of one CPU in order, either those of the compact batches (0525H) or those of the
 * full events (0524H). A compact record does not name the incoming thread: that is the thread that leaves next, and it
 * is known only if nothing can be missing between the two.
 */
#pragma once

#include "tools/cairn/log/event_walk.h"

/* What a switch was written as; the first four are enum ccswap_type. */
enum cairn_form {
    CAIRN_FORM_IDLE_SHORT = CCSWAP_IDLE_SHORT,
    CAIRN_FORM_IDLE = CCSWAP_IDLE,
    CAIRN_FORM_LITE = CCSWAP_LITE,
    CAIRN_FORM_FULL = CCSWAP_FULL,
    CAIRN_FORM_EVENT, /* 0524H */
};

struct cairn_switch {
    int64_t time; /* session clock */
    uint32_t old_tid, new_tid;
    uint32_t wait; /* of the incoming thread, timer ticks; LITE: 0 or 1, not told which */
    uint8_t form;
    uint8_t state, reason; /* reason: of a waiting thread; 0524H: always */
    int8_t priority;
    int8_t base;              /* of the outgoing thread, where base_told */
    bool base_told;           /* in a batch, where the thread leaves for the first time */
    bool new_known;           /* new_tid is */
    bool detailed;            /* state and priority are told: not in the idle forms */
    bool raw;                 /* reason is the record's field itself: no state can be told from a reason */
    uint32_t hole;            /* hole right before it, or CAIRN_NO_HOLE */
    struct cairn_event event; /* the 0524H or 0525H it is in; last, and copied seldom: it is large */
};

struct cairn_cursor {
    const struct cairn_log *log;
    const struct cairn_cpu *cpu;
    bool compact;
    struct cairn_walk walk;
    const uint8_t *next, *end; /* records left of the open batch */
    uint32_t slots;            /* of its TidTable, met so far */
    int64_t time;              /* of the record before */
    uint32_t hole;             /* met since the last switch */
    struct cairn_event event;
    uint32_t events; /* opened so far: `event` is that one */
    uint32_t of[2];  /* the one whose copy is in *slot[i] */
    struct cairn_switch *slot[2], own[2];
    uint8_t ahead; /* the slot of the switch that comes next; the other one has that which came last */
    bool has_ahead;
};

/* Where the switches are to be unpacked to, in turn, instead of into the cursor. Before the first is asked for. */
void cairn_cursor_slots(struct cairn_cursor *c, struct cairn_switch *even, struct cairn_switch *odd);
/* `compact`: the 0525H records; else the 0524H events. */
void cairn_cursor_init(struct cairn_cursor *c, const struct cairn_log *log, uint32_t cpu, bool compact);

/* The same along pieces that are nobody's. */
void cairn_cursor_begin(struct cairn_cursor *c, const struct cairn_log *log, const struct cairn_cpu *cpu, bool compact);

/* The next switch, or NULL at the end: then c->hole tells whether a hole lies behind the last one. It, and the payload
 * of its event, may be looked at until the next but one call. */
const struct cairn_switch *cairn_cursor_take(struct cairn_cursor *c);
/* The same, copied; false at the end. */
bool cairn_cursor_next(struct cairn_cursor *c, struct cairn_switch *sw);

/* Looks for the next switch; false: there is none. */
bool cairn_cursor_look(struct cairn_cursor *c);
/* The switch that cairn_cursor_next will return (its new_known not yet decided), NULL: none. */
static inline const struct cairn_switch *cairn_cursor_peek(struct cairn_cursor *c)
{
    return c->has_ahead || cairn_cursor_look(c) ? c->slot[c->ahead] : NULL;
}

/* Which of the two kinds to show, where a session wrote both: the full events, which know more. */
bool cairn_prefers_compact(const struct cairn_log *log);
