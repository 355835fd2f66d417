/* SPDX-License-Identifier: MIT */
/*
 * Where PEBS records are missing, on the time line of one CPU. If a drain is not in the log, the missing records are
 * older than the hole in the trace that contained the drain, so holes do not show it. The numbers of epochs do, and so
 * do addresses: the records of an epoch follow one another, from PebsBufferBase up to PebsIndex.
 */
#pragma once

#include "tools/cairn/log/show.h"
#include "tools/cairn/model/timeline.h"

struct cairn_record_gap {
    int64_t from, to; /* session clock: from what comes before the missing ones to what comes behind */
    bool quiet;       /* nothing was damaged or lost there: a circular session wrote over them, or it did not run */
    char text[CAIRN_SHOWN];
};

struct cairn_record_gaps { /* of one CPU, as far as it has been told */
    bool partial;          /* of a part of the trace: what came before it is not missing */
    bool any, drained;     /* there was a record or a drain; there was a drain */
    int64_t since;         /* the drain before, or where the trace begins */
    uint64_t next;         /* the number of the epoch that comes next */
    bool stopped;          /* the last drain was the session's last */
    bool hole;             /* there was one in the trace */
    unsigned damage;       /* drains up to which one that is damage or a loss counts: it may be told before a drain that
                            * lies in front of it */
    struct {               /* records since then, of one epoch */
        uint32_t epoch;
        bool any, untimed;
        uint64_t first, end; /* addresses */
        int64_t first_time, last_time;
        uint64_t bytes; /* that are missing in between, and where: */
        int64_t from, to;
    } seen;
};

#define CAIRN_RECORD_GAPS 3u /* that a drain shows, at most */

void cairn_record_gaps_begin(struct cairn_record_gaps *g, int64_t start);
/* What comes on the CPU, in the order of the timeline. How many gaps there are before a drain. */
void cairn_record_gaps_hole(struct cairn_record_gaps *g, const struct cairn_hole *hole);
void cairn_record_gaps_record(struct cairn_record_gaps *g, const struct cairn_record *r);
unsigned cairn_record_gaps_drain(struct cairn_record_gaps *g, const struct cairn_epoch *e,
                                 struct cairn_record_gap out[CAIRN_RECORD_GAPS]);
/* Behind the last of them, up to `stop`, where the trace ends. `hole`: something is missing at its end. */
bool cairn_record_gaps_end(const struct cairn_record_gaps *g, const struct cairn_log *log, uint32_t cpu, bool hole,
                           int64_t stop, struct cairn_record_gap *out);
