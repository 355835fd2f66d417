/* SPDX-License-Identifier: MIT */
/* The compact context-switch encoder: packs the switches of one CPU into PERFINFO_CCSWAP_BUFFER batches. It is on the
 * switch path: docs/reference/format.md describes the records, tests/bench its instruction budget. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/wire/format.h"

/* Why a batch was closed; the first five are Windows' own (build 10240). */
enum ccswap_close {
    CCSWAP_CLOSE_TIDS,  /* a 17th thread */
    CCSWAP_CLOSE_AGE,   /* more than 500 timer ticks since it began */
    CCSWAP_CLOSE_SPACE, /* fewer than 8 bytes left of 0x400 */
    CCSWAP_CLOSE_DELTA, /* 30 bits do not hold the time since the previous switch */
    CCSWAP_CLOSE_STOP,  /* recording stopped */
    CCSWAP_CLOSE_DRAIN, /* Cairn: the PEBS buffer is about to be drained: no batch spans it */
    CCSWAP_CLOSE_PANIC, /* Cairn: frozen by a panic */
    CCSWAP_CLOSE_REASONS,
};

struct trace_switch; /* trace/session.h */

#define TRACE_CCSWAP_BUCKETS 256u
#define TRACE_CCSWAP_CLOSED  UINT64_MAX /* `used` of an encoder without an open batch */

/*
 * One CPU's encoder. The first cache line is all an idle record touches besides the record itself.
 *
 * `bucket` guesses a thread's slot of TidTable from a hash of its ID. It is never cleared, since the table in the batch
 * decides: a stale guess fails one compare. `buckets_used` has a bit for every four buckets; it is clear if no thread
 * of this batch hashed to one of them: a thread that does is new and needs no search.
 */
struct trace_ccswap {
    int64_t last;      /* time of the previous switch in the open batch */
    int64_t deadline;  /* the open batch takes no switch after this time */
    uint64_t switches; /* all switches encoded since init; records in the open batch: less `batch_start` */
    uint64_t batch_start;
    uint64_t buckets_used;
    int64_t age_limit; /* clock units, 500 timer ticks */
    uint64_t used;     /* bytes of the open batch, or TRACE_CCSWAP_CLOSED */
    uint64_t tids;     /* slots of TidTable in use */
    /* Gets each closed batch: `size` bytes at `batch` with `records` switches; `time`: now. The batch is no longer open
     * at the call, so if a panic stops the CPU in it, the batch is not written twice. */
    void (*write)(struct trace_ccswap *c, uint32_t size, uint32_t records, int64_t time, enum ccswap_close reason);
    uint32_t lite[CCSWAP_TIDS] __attribute__((aligned(64))); /* by slot: the low bits of its thread's LITE records, were
                                                              * its priority 0 */
    uint8_t bucket[TRACE_CCSWAP_BUCKETS];
    union {
        struct ccswap_buffer header;
        uint8_t bytes[CCSWAP_BATCH_BYTES];
    } batch __attribute__((aligned(64)));
};

/* No batch is open after it. `tick_units`: one timer tick in clock units. */
void trace_ccswap_init(struct trace_ccswap *c, uint64_t tick_units,
                       void (*write)(struct trace_ccswap *, uint32_t, uint32_t, int64_t, enum ccswap_close));

/* Adds one switch at `time` (session clock). If the open batch cannot take it, closes the batch first. The conditions
 * are tried in this order, and the first that holds is the reason: space, age, delta, tids. */
void trace_ccswap_switch(struct trace_ccswap *c, const struct trace_switch *sw, int64_t time);

/* Closes the open batch, if there is one. */
void trace_ccswap_close(struct trace_ccswap *c, int64_t time, enum ccswap_close reason);
