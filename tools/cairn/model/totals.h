/* SPDX-License-Identifier: MIT */
/* The sums of `cairn stat`: how long each thread ran, and which thread caused the PEBS records. */
#pragma once

#include "tools/cairn/base/number_map.h"
#include "tools/cairn/log/activity.h"
#include "tools/cairn/model/timeline.h"

struct cairn_total_thread {
    uint32_t tid;
    uint64_t busy, records, runs; /* clock units on a CPU; records it caused; times it was switched out */
};

/* Whose a record is: the stamps of 0524H and those of 0525H are not worth the same. */
enum { CAIRN_TOTAL_TIME, CAIRN_TOTAL_0524, CAIRN_TOTAL_0525, CAIRN_TOTAL_RULES };

struct cairn_totals {
    const struct cairn_log *log;
    bool compact; /* the kind of switches counted for shares */
    struct {
        struct cairn_total_thread *items;
        size_t count, room;
    } threads; /* at the positions of `by_tid` until they are sorted to be printed */
    struct cairn_map by_tid;
    uint64_t busy[CAIRN_CPUS_MOST], idle[CAIRN_CPUS_MOST], unknown[CAIRN_CPUS_MOST], switches[CAIRN_CPUS_MOST];
    uint64_t others[CAIRN_CPUS_MOST]; /* the time of threads that the filter leaves out */
    struct cairn_total_passed {       /* the filter, of the kind of switches that is counted, and of all other things */
        uint64_t events, forms[CAIRN_FORM_EVENT + 1], locks, drains, empty;
        uint64_t live[CAIRN_LIVE_KINDS], hooks[UINT16_MAX + 1]; /* hooks: of the other events */
    } passed;
    struct cairn_total_rule {
        uint64_t blames[CAIRN_BLAMES], told, wrong; /* told: of the attributed, those the truth knows */
    } rules[CAIRN_TOTAL_RULES];
    uint64_t records, attributed; /* attributed: by the rule asked for */
};

/* Adds up all that passes the filter (filter.h); of who ran how long, what passes by CPU, time and thread; records'
 * threads by the rule `by`. `ended`: no more comes, so that the time behind a CPU's last switch belongs to it, too. */
void cairn_totals_read(struct cairn_totals *t, const struct cairn_log *log, enum cairn_by by, bool ended);
/* Puts the threads in the order of their time, or of their records. */
void cairn_totals_order(struct cairn_totals *t, bool records);
void cairn_totals_free(struct cairn_totals *t);
