/* SPDX-License-Identifier: MIT */
/*
 * Goes through the context switches of one CPU in order, either those of the compact batches (0525H) or those of the
 * full events (0524H). A compact record does not name the incoming thread: that is the thread that leaves next, and it
 * is known only if nothing can be missing between the two. Switches are decoded a block at a time: one batch, or some
 * small ones.
 */
#pragma once

#include "tools/cairn/base/ahead.h"
#include "tools/cairn/log/event_walk.h"
#include "tools/cairn/model/item.h"

#define CAIRN_BLOCK_SWITCHES 1024u /* more than a batch of Cairn's holds; shorter blocks are handed over too often */
#define CAIRN_BLOCK_EVENTS   32u
#define CAIRN_BLOCK_BYTES    8192u /* of events: more than four of the largest in a frame */

struct cairn_block {
    const struct cairn_item *first, *quiet, *end; /* as in struct cairn_cursor */
    struct cairn_item item[CAIRN_BLOCK_SWITCHES];
    /* The events they are in; in a serial log copies, whose bytes are here. */
    struct cairn_event event[CAIRN_BLOCK_EVENTS];
    uint8_t bytes[CAIRN_BLOCK_BYTES];
};

struct cairn_cursor {
    const struct cairn_log *log;
    const struct cairn_cpu *cpu;
    uint32_t number; /* of the CPU, as the items have it */
    bool compact;
    const struct cairn_item *item, *end; /* left of the block that was taken; */
    const struct cairn_item *quiet;      /* the first before which a hole is or which is not in the order of time */
    struct cairn_ahead *ahead;           /* who makes blocks, too; NULL: nobody */
    struct cairn_source source;
    /* of the block that is made */
    uint32_t hole; /* met since the last switch that was decoded */
    struct cairn_event event;
    const uint8_t *next, *stop;                         /* records left of it */
    int64_t time;                                       /* of the record before */
    uint32_t slots;                                     /* of its TidTable, met so far */
    uint16_t state[CCSWAP_MASK(CCSWAP_STATE_BITS) + 1]; /* of each state field: the state, and the reason << 8 */
    bool ended;                                         /* nothing comes behind `last` */
    bool has_last;
    struct cairn_item last; /* not told yet: who came is not known */
    /* these are large, and not zeroed */
    struct cairn_walk walk;
    struct cairn_block own[2];
};

/* `compact`: the 0525H records; else the 0524H events. */
void cairn_cursor_init(struct cairn_cursor *c, const struct cairn_log *log, uint32_t cpu, bool compact);
/* The same along pieces that are nobody's. */
void cairn_cursor_begin(struct cairn_cursor *c, const struct cairn_log *log, const struct cairn_cpu *cpu, bool compact);
/* Right behind it: other threads may make blocks of c->source, and c->ahead be set. `blocks`: room for so many. */
void cairn_cursor_share(struct cairn_cursor *c, struct cairn_block *blocks, uint32_t room);

/* The next switch, copied; false at the end: then c->hole tells whether a hole lies behind the last one. Its event may
 * be looked at until the next call. */
bool cairn_cursor_next(struct cairn_cursor *c, struct cairn_switch *sw);

/* Takes the next block; false: there is none. */
bool cairn_cursor_more(struct cairn_cursor *c);
/* The switch that comes next, NULL: none. It is *c->item; it comes where that is one further, and may then be looked at
 * until the next but one comes. */
static inline const struct cairn_switch *cairn_cursor_peek(struct cairn_cursor *c)
{
    return c->item != c->end || cairn_cursor_more(c) ? &c->item->sw : NULL;
}

/* Whether there are switches of that kind, or the session wrote them and they were lost. */
bool cairn_has_switches(const struct cairn_log *log, bool compact);
/* Which of the two kinds to show, where a session wrote both: the full events, which know more. */
bool cairn_prefers_compact(const struct cairn_log *log);
