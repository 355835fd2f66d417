/* SPDX-License-Identifier: MIT */
/* What `cairn stat` adds up: who ran how long, whose the PEBS records are. */
#pragma once

#include "tools/cairn/map.h"
#include "tools/cairn/timeline.h"

struct cairn_total_thread {
    uint32_t tid;
    uint64_t busy, records, runs; /* clock units on a CPU; records it caused; times it was switched out */
};

/* Whose a record is: the stamps of 0524H and those of 0525H are not worth the same. */
enum { CAIRN_TOTAL_TIME, CAIRN_TOTAL_0524, CAIRN_TOTAL_0525, CAIRN_TOTAL_RULES };

struct cairn_totals {
    const struct cairn_log *log;
    uint32_t cpu; /* the only one; CAIRN_MAX_CPUS: all */
    bool compact; /* the kind of switches counted for shares */
    struct {
        struct cairn_total_thread *items;
        size_t count, room;
    } threads; /* at the positions of `by_tid` until they are sorted to be printed */
    struct cairn_map by_tid;
    uint64_t busy[CAIRN_MAX_CPUS], idle[CAIRN_MAX_CPUS], unknown[CAIRN_MAX_CPUS], switches[CAIRN_MAX_CPUS];
    struct cairn_total_rule {
        uint64_t blames[CAIRN_BLAMES], told, wrong; /* told: of the attributed, those the truth knows */
    } rules[CAIRN_TOTAL_RULES];
    uint64_t records, attributed; /* attributed: by the rule asked for */
};

/* Adds everything up, of one CPU, or of all where `cpu` is CAIRN_MAX_CPUS; records' threads by the rule `by`. */
void cairn_totals_read(struct cairn_totals *t, const struct cairn_log *log, uint32_t cpu, enum cairn_by by);
void cairn_totals_free(struct cairn_totals *t);

/* Whether that CPU is one of those that are added up. */
bool cairn_totals_has(const struct cairn_totals *t, uint32_t cpu);
