/* SPDX-License-Identifier: MIT */
/*
 * The modelled memory system of `memory=model`: what each access of data finds in TLBs (tlb.h) and caches (caches.h),
 * and how many cycles it takes. All of it is modelled, not measured. It needs nothing of QEMU.
 *
 * A core has a clock of its own, which says what is used least recently and what is still on its way: one for each line
 * that it accesses, and for a read the cycles that the read takes beyond an L1 hit.
 */
#pragma once

#include "tools/qemu-ds/modelled/caches.h"
#include "tools/qemu-ds/modelled/tlb.h"

#define QDS_QUICK      256u
#define QDS_LEAST_LINE 16u /* bytes */

struct qds_memory_config {
    struct qds_caches_config caches;
    struct {
        struct qds_tlb_size dtlb, stlb;
    } kind[2];                           /* as of caches */
    uint16_t stlb_latency, walk_latency; /* cycles beyond a hit in the DTLB */
    uint8_t line_shift;                  /* bytes of a line, as a power of 2 */
};

/* A line that the core has accessed, and where it was found: if it still is there, the access is a hit in DTLB and L1,
 * and there is no more to do than to say when. Its slot tells its place in its page. */
struct qds_quick {
    uint64_t physical; /* number of the page */
    uint64_t modified; /* qds_caches_modified() */
    struct qds_l1_line *at;
    struct qds_tlb_entry *page;
};

_Static_assert(QDS_QUICK *QDS_LEAST_LINE >= 1u << QDS_PAGE_SHIFT, "two lines of a page need slots of their own");

struct qds_core {
    struct qds_memory *memory;
    unsigned index;
    uint64_t line_mask; /* of an address: the place in its line */
    uint8_t line_shift;
    uint64_t now;
    struct qds_memory_totals {
        uint64_t l1_filled, l3_asked, l3_missed, hitm, walks, stall;
    } totals;
    struct qds_tlb tlb;
    struct qds_quick quick[QDS_QUICK];
};

struct qds_memory;

/* NULL: out of memory. */
struct qds_memory *qds_memory_new(const struct qds_memory_config *config, unsigned cores);
void qds_memory_free(struct qds_memory *memory);
struct qds_core *qds_memory_core(struct qds_memory *memory, unsigned core);

/* Lines that the core has accessed. */
static inline uint64_t qds_memory_lines(const struct qds_core *k)
{
    return k->now - k->totals.stall;
}
struct qds_caches *qds_memory_caches(struct qds_memory *memory); /* for tests */

struct qds_access { /* what one access was; of two lines: the slower one, and what both have caused */
    struct ds_model_access said;
    uint32_t stall; /* cycles that a read takes beyond an L1 hit */
    uint8_t walks;
    uint8_t l1_filled, l3_asked, l3_missed; /* lines */
};

/* The most that one access can be of all but `said`. */
struct qds_access qds_memory_most(const struct qds_memory_config *config);

/* All accesses, of `size` bytes, on the core's own thread. `locked`: read and written in one; its read already gets the
 * line for the write. */
void qds_memory_access(struct qds_core *core, uint64_t address, unsigned size, bool write, bool locked,
                       qds_tlb_walk *walk, void *context, struct qds_access *out);

/* An access of a line that the core has accessed, `but_for` flags in which the line may differ from a Modified one.
 * False: it is no such access, and nothing was done. `last`: how far into its line the access may begin and still be of
 * one line. */
static inline bool qds_memory_again(struct qds_core *k, uint64_t address, uint64_t last, uint64_t but_for)
{
    const struct qds_quick *q = &k->quick[address >> k->line_shift & (QDS_QUICK - 1)];
    if (__builtin_expect((address & k->line_mask) > last || !qds_tlb_hits(q->page, address) ||
                             q->page->physical != q->physical || !qds_caches_hits(q->at, q->modified, but_for),
                         0))
        return false;
    q->at->used = q->page->used = ++k->now;
    return true;
}

/* True: it was a hit in DTLB and L1, without anything to say of it, and is done. */
static inline bool qds_memory_quick(struct qds_core *k, uint64_t address, uint64_t last, bool write)
{
    return qds_memory_again(k, address, last, write ? QDS_WRITABLE : QDS_READABLE);
}

/* The same where nobody asks what it was: it may also be a write to a line that is on its way. */
static inline bool qds_memory_passes(struct qds_core *k, uint64_t address, uint64_t last, bool write)
{
    return qds_memory_again(k, address, last, write ? QDS_PASSABLE : QDS_READABLE);
}
