/* SPDX-License-Identifier: MIT */
/* What the writer of a page collects while it writes the stream (writer.c), for the meta object (meta.c). */
#pragma once

#include "tools/cairn/base/number_map.h"
#include "tools/cairn/export/html/html.h"
#include "tools/cairn/export/record_gaps.h"
#include "tools/cairn/export/thread_colours.h"
#include "tools/cairn/model/cpu_time.h"

struct cairn_html {
    struct cairn_html_stream s;
    int64_t origin, before; /* units; `before`: of the item before */
    bool begun;             /* these are known */
    int64_t first, last;    /* of the trace, session clock */
    uint64_t switches, batches, records, starts, drains, locks, events, lost, branches, bts_drains;
    struct cairn_html_cpu {
        const uint8_t *payload; /* of the last batch */
        int64_t time;           /* its */
        struct cairn_stints stints;
        uint64_t whose[CAIRN_STINT_THREAD + 1]; /* units of time by enum cairn_stint_kind */
        bool hole;                              /* behind the last switch */
        bool rest_known;                        /* who ran from there to the end */
        struct cairn_record_gaps gaps;
    } cpu[CAIRN_CPUS_MOST];
    struct cairn_thread_colours colours;
    struct {
        uint32_t *items;
        size_t count, room;
    } nameless; /* threads that came or went */
    struct cairn_map is_nameless;
    char words[32768]; /* JSON, before it is a text */
};

static inline int64_t cairn_html_between(int64_t from, int64_t to)
{
    return (int64_t)((uint64_t)to - (uint64_t)from);
}

/* Writes the meta object, behind the stream. */
void cairn_html_meta(const struct cairn_output *o);
