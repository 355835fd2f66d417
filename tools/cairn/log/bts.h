/* SPDX-License-Identifier: MIT */
/* Branch Trace Store events of the log (docs/format.md): indexed here, checked in check_bts.c, shown by cmd_bts.c. */
#pragma once

#include "ds/layout.h"
#include "tools/cairn/log/log.h"

#define CAIRN_BTS_BYTES ((uint32_t)sizeof(struct ds_bts_record)) /* of one record */

struct cairn_branch {
    uint64_t from, to, flags;
};

struct cairn_bts_step { /* an event of these, as they come; zeroed: none has */
    struct cairn_bts_drain drain; /* what it tells of, as far as that has come; without `first_part` and `piece` */
    bool any;                     /* there is one */
    const uint8_t *at;            /* its records, unaligned; */
    uint32_t first, count;        /* number of the first within the drain; how many: 0, it is the drain's own event */
};

/* False: not what such an event can hold. */
bool cairn_bts_index(const struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_event *event,
                     uint32_t piece);

/* The next event of a CPU, in their order. False: it is none, or records whose drain, or others before them, are
 * missing. */
bool cairn_bts_follow(struct cairn_bts_step *step, const struct cairn_event *event);
/* Record `i` of those of the step, below its `count`. */
struct cairn_branch cairn_bts_step_record(const struct cairn_bts_step *step, uint32_t i);

/* Whether all records of the drain are there. */
bool cairn_bts_complete(const struct cairn_bts_drain *drain);

/* Record `i` of those of the drain that are there, from 0: the oldest. False: there are no more. */
bool cairn_bts_record(const struct cairn_cpu *cpu, const struct cairn_bts_drain *drain, uint32_t i,
                      struct cairn_branch *branch);
/* The same as it lies there, CAIRN_BTS_BYTES, unaligned; NULL: there are no more. */
const uint8_t *cairn_bts_at(const struct cairn_cpu *cpu, const struct cairn_bts_drain *drain, uint32_t i);
