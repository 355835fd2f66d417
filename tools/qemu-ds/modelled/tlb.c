/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/modelled/tlb.h"

#include <stdlib.h>

#define LARGEST_SHIFT 30 /* of the guest's pages: 1 GiB */

static void forget(struct qds_tlb_entry *entries, struct qds_tlb_size size)
{
    for (size_t i = 0; i < (size_t)size.sets * size.ways; i++)
        entries[i].page = QDS_NO_PAGE;
}

bool qds_tlb_new(struct qds_tlb *t, struct qds_tlb_size dtlb, struct qds_tlb_size stlb)
{
    *t = (struct qds_tlb){.dtlb_size = dtlb, .stlb_size = stlb};
    t->dtlb = calloc((size_t)dtlb.sets * dtlb.ways, sizeof t->dtlb[0]);
    t->stlb = calloc((size_t)stlb.sets * stlb.ways, sizeof t->stlb[0]);
    if (!t->dtlb || !t->stlb)
        return false;
    forget(t->dtlb, dtlb);
    forget(t->stlb, stlb);
    return true;
}

void qds_tlb_free(struct qds_tlb *t)
{
    free(t->dtlb);
    free(t->stlb);
}

static bool is_free(const struct qds_tlb *t, const struct qds_tlb_entry *e)
{
    return e->page == QDS_NO_PAGE || e->epoch != t->epoch;
}

/* A page's place. Where it has none: the place to put it, one that is free or else the least recently used. */
static struct qds_tlb_entry *find(const struct qds_tlb *t, struct qds_tlb_entry *entries, struct qds_tlb_size size,
                                  uint64_t address, bool *found)
{
    struct qds_tlb_entry *const first = entries + (size_t)(address >> QDS_PAGE_SHIFT & (size.sets - 1)) * size.ways;
    struct qds_tlb_entry *best = first;
    *found = true;
    for (struct qds_tlb_entry *e = first; e < first + size.ways; e++) {
        if (qds_tlb_hits(e, address) && e->epoch == t->epoch)
            return e;
        if (!is_free(t, best) && (is_free(t, e) || e->used < best->used))
            best = e;
    }
    *found = false;
    return best;
}

enum qds_tlb_found qds_tlb_find(struct qds_tlb *t, uint64_t address, uint64_t now, qds_tlb_walk *walk, void *context,
                                struct qds_tlb_entry **entry)
{
    bool in_dtlb, in_stlb;
    uint64_t physical;
    struct qds_tlb_entry *d = find(t, t->dtlb, t->dtlb_size, address, &in_dtlb);
    *entry = d;
    if (in_dtlb) {
        d->used = now;
        return QDS_IN_DTLB;
    }
    struct qds_tlb_entry *s = find(t, t->stlb, t->stlb_size, address, &in_stlb);
    if (!walk(context, address, &physical)) {
        *entry = NULL;
        return QDS_UNCACHED;
    }
    in_stlb = in_stlb && s->physical == physical >> QDS_PAGE_SHIFT; /* qds_tlb_flush_page() may leave it */
    if (!in_stlb)
        *s = (struct qds_tlb_entry){address >> QDS_PAGE_SHIFT, physical >> QDS_PAGE_SHIFT, now, t->epoch};
    s->used = now;
    *d = *s;
    return in_stlb ? QDS_IN_STLB : QDS_WALKED;
}

/* The DTLB is emptied entry by entry, because qds_tlb_hits() does not look at the epoch. For the STLB a new epoch is
 * enough, until epochs begin again at 0. */
void qds_tlb_flush(struct qds_tlb *t)
{
    forget(t->dtlb, t->dtlb_size);
    if (++t->epoch == 0)
        forget(t->stlb, t->stlb_size);
}

/* Looking for 1 GiB in the STLB would take long. Instead, qds_tlb_find() checks what it finds there. */
void qds_tlb_flush_page(struct qds_tlb *t, uint64_t address)
{
    bool found;
    const struct qds_tlb_entry *const end = t->dtlb + (size_t)t->dtlb_size.sets * t->dtlb_size.ways;
    for (struct qds_tlb_entry *e = t->dtlb; e < end; e++)
        if (e->page >> (LARGEST_SHIFT - QDS_PAGE_SHIFT) == address >> LARGEST_SHIFT)
            e->page = QDS_NO_PAGE;
    struct qds_tlb_entry *e = find(t, t->stlb, t->stlb_size, address, &found);
    if (found)
        e->page = QDS_NO_PAGE;
}
