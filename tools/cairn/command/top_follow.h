/* SPDX-License-Identifier: MIT */
/* Adds up a trace while it is still coming. Whole buffers of the trace are read as a small log of their own, with the
 * text streams that have come so far, and are then forgotten: memory does not grow with the trace. */
#pragma once

#include "tools/cairn/base/number_map.h"
#include "tools/cairn/base/tally.h"
#include "tools/cairn/frame/feed.h"
#include "tools/cairn/log/session_lives.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/cpu_time.h"

#define CAIRN_FOLLOW_RECENT 16384u /* switches of a CPU that are kept: a drain's records are older than the drain */
#define CAIRN_FOLLOW_WINDOW (UINT32_C(4) << 20) /* bytes of lines that wait, at most */
#define CAIRN_FOLLOW_SENT   4096u               /* frames that are known again when they come again */
#define CAIRN_FOLLOW_RUNS   4096u               /* of missing frames, that may come late */

struct cairn_follow_thread {
    uint32_t tid;
    char name[CAIRN_SHOWN];                           /* as cairn_show_thread has it */
    uint64_t busy, busy_now, runs, runs_now, records; /* clock units; times switched out */
};

struct cairn_follow_cpu {
    /* The last frame that came, and the last that was read. */
    struct cairn_follow_place {
        uint32_t buffer, sequence, end, used; /* end: of the bytes that came, of those used */
        bool known;
    } came, read;
    struct cairn_stints stints;
    struct cairn_stops stops;
    struct cairn_follow_recent {
        int64_t time;
        uint32_t tid; /* who left */
        bool hole;    /* right before it */
    } * recent;       /* CAIRN_FOLLOW_RECENT, once there is one; the last at switches % CAIRN_FOLLOW_RECENT */
    uint64_t switches;
    /* Records whose thread is the one that leaves next, and when the last of them was: that switch is still to come. */
    uint64_t orphans;
    int64_t orphaned;
    bool there, joined; /* joined: what is read now begins where it ended before */
    bool hole;          /* something is missing behind the last switch */
    /* The first switch, where it came before anything told when the session began: the time before it is to be added.
     */
    struct cairn_switch first;
    bool began_untold;
    uint64_t busy, busy_now, idle, idle_now, unknown, unknown_now, switches_now;
};

struct cairn_follow { /* "now": since cairn_follow_mark */
    struct cairn_feed feed;
    uint32_t session; /* 0: that of the first frame of the trace */
    struct {
        char *items;
        size_t count, room;
    } head, trace; /* lines that are kept; that have not been read */
    struct {
        struct cairn_follow_frame {
            size_t at, size; /* in `trace` */
            struct cairn_follow_place place;
            uint32_t offset;
            uint16_t cpu;
            bool lost; /* events, right before it */
        } * items;
        size_t count, room;
    } waiting;
    struct cairn_follow_cpu cpu[MAX_CPUS];
    struct cairn_map by_tid;
    struct {
        struct cairn_follow_thread *items;
        size_t count, room;
    } threads;
    struct cairn_tally reasons, functions; /* side 0: in all, side 1: now */
    uint64_t switches, records;
    uint64_t frames, trace_frames, gaps; /* frames: good ones; gaps: where events are missing */
    /* Frames: that have not come; whose contents are not what they can be, or not all; that came where they could not
     * be read any more, behind later ones. Those damaged on their way are the feed's. */
    uint64_t missing, bad, misplaced;
    uint64_t next; /* frame */
    struct {
        struct cairn_run items[CAIRN_FOLLOW_RUNS]; /* by number; the last ones */
        size_t count;
    } late; /* frames that are missing, and may come yet */
    struct cairn_follow_sent {
        uint32_t number;
        char crc[8];           /* as it stands in the line; 0: none */
    } sent[CAIRN_FOLLOW_SENT]; /* at number % CAIRN_FOLLOW_SENT */
    /* As the end summary tells of the kind of switches that is counted; what the processor lost, as the drains tell. */
    uint64_t tried;
    bool tried_known;
    struct cairn_lost dropped;
    int64_t first, last; /* session clock: when it began, the last switch or its end */
    bool timed;
    uint64_t hz;
    bool emulated, full_head; /* full_head: there was more text than is kept */
    bool ended;               /* the trailer has come, */
    bool whole;               /* and all up to the end has been added up */
    bool stale;               /* "now" is over: it begins anew with what comes next */
};

/* The time of a CPU that is told: up to its last switch, or to the end of the session. */
static inline uint64_t cairn_follow_told(const struct cairn_follow_cpu *c)
{
    return c->busy + c->idle + c->unknown;
}

/* The time of a CPU that "now" tells of. CPUs send their buffers when they are full: each has its own "now". */
static inline uint64_t cairn_follow_told_now(const struct cairn_follow_cpu *c)
{
    return c->busy_now + c->idle_now + c->unknown_now;
}

void cairn_follow_init(struct cairn_follow *f, uint32_t session);
void cairn_follow_bytes(struct cairn_follow *f, const char *data, size_t size);
/* Reads what has come, `all` of it or whole buffers only. */
void cairn_follow_read(struct cairn_follow *f, bool all);
/* What is shown has been: what comes from here on is "now". */
void cairn_follow_mark(struct cairn_follow *f);
/* Nothing is known any more: the file is another. */
void cairn_follow_reset(struct cairn_follow *f);
