/* SPDX-License-Identifier: MIT */
/*
 * Walks the context switches of one CPU in order, either those of the compact batches (0525H) or those of the full
 * events (0524H). A compact record does not say who came: that is who leaves next, known only where nothing can be
 * missing between the two.
 */
#pragma once

#include "tools/cairn/log.h"

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
    struct cairn_event event; /* the 0524H or 0525H it is in */
};

struct cairn_cursor {
    const struct cairn_log *log;
    const struct cairn_cpu *cpu;
    bool compact;
    uint32_t piece, at;        /* next event */
    const uint8_t *next, *end; /* records left of the open batch */
    uint32_t slots;            /* of its TidTable, met so far */
    int64_t time;              /* of the record before */
    uint32_t hole;             /* met since the last switch */
    struct cairn_event event;
    struct cairn_switch ahead;
    bool has_ahead;
};

/* `compact`: the 0525H records; else the 0524H events. */
void cairn_cursor_init(struct cairn_cursor *c, const struct cairn_log *log, uint32_t cpu, bool compact);

/* The next switch, or false at the end: then c->hole tells whether a hole lies behind the last one. */
bool cairn_cursor_next(struct cairn_cursor *c, struct cairn_switch *sw);

/* The switch that cairn_cursor_next will return (its new_known not yet decided), NULL: none. */
const struct cairn_switch *cairn_cursor_peek(struct cairn_cursor *c);

/* Which of the two kinds to show, where a session wrote both: the full events, which know more. */
bool cairn_prefers_compact(const struct cairn_log *log);
