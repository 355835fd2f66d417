/* SPDX-License-Identifier: MIT */
/* Branch Trace Store events of the log (docs/reference/format.md): indexed here, checked in tools/cairn/check/bts.c,
 * shown by tools/cairn/command/bts.c. */
#pragma once

#include "ds/layout.h"
#include "tools/cairn/log/event_walk.h"

#define CAIRN_BTS_BYTES ((uint32_t)sizeof(struct ds_bts_record)) /* of one record */

struct cairn_branch {
    uint64_t from, to, flags;
};

struct cairn_bts_step {           /* an event of these, as they come; zeroed: none has */
    struct cairn_bts_drain drain; /* what it tells of, as far as that has come */
    bool any;                     /* there is one */
    const uint8_t *at;            /* its records, unaligned, */
    uint64_t address;             /* where the first of them lay; */
    uint32_t first, count;        /* number of the first within the drain; how many: 0, it is the drain's own event */
};

/* False: not what such an event can hold. */
bool cairn_bts_index(struct cairn_cpu *cpu, const struct cairn_event *event);

/* The next event of a CPU, in their order. False: it is none, or records whose drain, or others before them, are
 * missing. */
bool cairn_bts_follow(struct cairn_bts_step *step, const struct cairn_event *event);
/* Record `i` of those of the step, below its `count`. */
struct cairn_branch cairn_bts_step_record(const struct cairn_bts_step *step, uint32_t i);

/* Whether all records of the drain are there. */
bool cairn_bts_complete(const struct cairn_bts_drain *drain);

struct cairn_bts_part {    /* the records of one event */
    uint64_t address;      /* where the first lay */
    uint32_t count, first; /* first: its number within the drain */
};

struct cairn_bts_group { /* a drain and all its records that are there */
    struct cairn_bts_step step;
    uint32_t piece, next_piece; /* where its event lies, and that of the next drain; of the last: behind all pieces */
    struct {
        struct cairn_bts_part *items;
        size_t count, room;
    } parts;
    uint8_t *bytes; /* of the records */
    size_t used, room;
    struct cairn_event ahead; /* begins the next one */
    bool has_ahead;
    struct cairn_walk walk; /* last: it is large, and not zeroed */
};
void cairn_bts_group_init(struct cairn_bts_group *group, const struct cairn_log *log, uint32_t cpu);
/* Goes to the beginning of a piece: the next drain is the first from there on. */
void cairn_bts_group_seek(struct cairn_bts_group *group, uint32_t piece);
/* Goes on to the next drain, NULL: there is none. What belongs to the one before is gone. */
const struct cairn_bts_drain *cairn_bts_group_next(struct cairn_bts_group *group);
/* Record `i` of those that are there, from 0: the oldest. False: there are no more. */
bool cairn_bts_record(const struct cairn_bts_group *group, uint32_t i, struct cairn_branch *branch);
/* The same as it lies there, CAIRN_BTS_BYTES, unaligned; NULL: there are no more. */
const uint8_t *cairn_bts_at(const struct cairn_bts_group *group, uint32_t i);
void cairn_bts_group_free(struct cairn_bts_group *group);
