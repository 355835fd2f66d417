/* SPDX-License-Identifier: MIT */
/*
 * The data caches of the modelled machine: an L1 and an L2 for each core, an L3 for all of them, and MESI in between.
 * Each level contains the lines of the one before it. In each set the least recently used line goes. Instructions and
 * prefetchers are not modelled.
 *
 * States are flags: Modified is EXCLUSIVE and DIRTY, Exclusive is EXCLUSIVE, Shared is neither. L1 and L2 of a core
 * agree on EXCLUSIVE; the line has changed if either says DIRTY. The L3 remembers which cores have asked for a line. A
 * core that drops a line it has not changed does not say so.
 *
 * The sets of a line in all levels have the same lowest bits, and so have those of the lines that go for it. There is a
 * lock for each value of these bits. It is held during all that is done to a line. Without it the core may only write
 * `used` of its own L1, and look whether a line is there: qds_caches_hits().
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ds/model/model.h"

enum { QDS_PRESENT = 1, QDS_EXCLUSIVE = 2, QDS_DIRTY = 4, QDS_PENDING = 8, QDS_LINE_SHIFT = 4 };

struct qds_cache_size {
    uint32_t sets, ways; /* sets: a power of 2 */
};

struct qds_caches_config {
    struct {
        struct qds_cache_size l1, l2;
    } kind[2];                          /* of cores: performance cores, or all; efficient cores */
    unsigned efficient;                 /* the first of these; at least the number of cores: there are none */
    struct qds_cache_size l3;           /* has room for any set of an L1 and L2 */
    uint16_t latency[DS_MODEL_SOURCES]; /* cycles until the data is there */
};

struct qds_l1_line {
    _Atomic uint64_t word; /* the line's number << QDS_LINE_SHIFT, and flags; 0: none */
    uint64_t used;         /* when, by the core's clock */
};

struct qds_fetched { /* what became of one access */
    enum ds_model_source source;
    uint32_t latency;
    bool l1_filled; /* the L1 did not have the line */
    bool l3_asked, l3_missed;
    struct qds_l1_line *line; /* where it is now */
};

struct qds_caches;

/* NULL: out of memory. */
struct qds_caches *qds_caches_new(const struct qds_caches_config *config, unsigned cores);
void qds_caches_free(struct qds_caches *caches);

/* The core reads or writes a line at `now` of its clock, which never stands still between two calls. A write does not
 * wait for its line: who reads that before it is there finds it in a fill buffer. On the core's own thread. */
struct qds_fetched qds_caches_access(struct qds_caches *caches, unsigned core, uint64_t line, bool write, uint64_t now);

/* A line's word while it is Modified. */
static inline uint64_t qds_caches_modified(uint64_t line)
{
    return line << QDS_LINE_SHIFT | QDS_PRESENT | QDS_EXCLUSIVE | QDS_DIRTY;
}

/* Flags in which a line of the L1 may differ from a Modified one, and the core still reads or writes it at once. Where
 * nobody asks what a write was, it may also be one to a line that is on its way. */
#define QDS_READABLE ((uint64_t)(QDS_EXCLUSIVE | QDS_DIRTY))
#define QDS_WRITABLE UINT64_C(0)
#define QDS_PASSABLE ((uint64_t)QDS_PENDING)

/* Whether the L1 has the line at this place, but for these flags. */
static inline bool qds_caches_hits(const struct qds_l1_line *at, uint64_t modified, uint64_t but_for)
{
    return !((atomic_load_explicit(&at->word, memory_order_relaxed) ^ modified) & ~but_for);
}

/* For tests, while nothing moves: the flags of a line in a core's L1 and L2, and in the L3; 0: not there. */
struct qds_line_state {
    unsigned l1, l2, l3;
};
struct qds_line_state qds_caches_state(struct qds_caches *caches, unsigned core, uint64_t line);
