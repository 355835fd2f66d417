/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/tlb.h"

#include <stdlib.h>
#include <string.h>

bool qds_tlb_new(struct qds_tlb *t, struct qds_tlb_size dtlb, struct qds_tlb_size stlb)
{
    *t = (struct qds_tlb){.dtlb_size = dtlb, .stlb_size = stlb, .epoch = 1};
    t->dtlb = calloc((size_t)dtlb.sets * dtlb.ways, sizeof t->dtlb[0]);
    t->stlb = calloc((size_t)stlb.sets * stlb.ways, sizeof t->stlb[0]);
    return t->dtlb && t->stlb;
}

void qds_tlb_free(struct qds_tlb *t)
{
    free(t->dtlb);
    free(t->stlb);
}

/* A page's place, or the place that is to be its. */
static struct qds_tlb_entry *find(const struct qds_tlb *t, struct qds_tlb_entry *entries, struct qds_tlb_size size,
                                  uint64_t address, bool *found)
{
    struct qds_tlb_entry *const first =
        entries + (size_t)(address >> QDS_PAGE_SHIFT & (size.sets - 1)) * size.ways;
    struct qds_tlb_entry *best = first;
    *found = true;
    for (struct qds_tlb_entry *e = first; e < first + size.ways; e++) {
        if (qds_tlb_hits(t, e, address))
            return e;
        if (best->epoch == t->epoch && (e->epoch != t->epoch || e->used < best->used))
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
    if (!in_stlb && !walk(context, address, &physical)) {
        *entry = NULL;
        return QDS_UNCACHED;
    }
    if (!in_stlb)
        *s = (struct qds_tlb_entry){address >> QDS_PAGE_SHIFT, physical >> QDS_PAGE_SHIFT, now, t->epoch};
    s->used = now;
    *d = *s;
    return in_stlb ? QDS_IN_STLB : QDS_WALKED;
}

static void forget(struct qds_tlb_entry *entries, struct qds_tlb_size size)
{
    memset(entries, 0, (size_t)size.sets * size.ways * sizeof entries[0]);
}

void qds_tlb_flush(struct qds_tlb *t)
{
    if (++t->epoch)
        return;
    t->epoch = 1; /* after 2^32: entries of the first epochs must not come back */
    forget(t->dtlb, t->dtlb_size);
    forget(t->stlb, t->stlb_size);
}

void qds_tlb_flush_page(struct qds_tlb *t, uint64_t address)
{
    bool found;
    struct qds_tlb_entry *e = find(t, t->dtlb, t->dtlb_size, address, &found);
    if (found)
        e->epoch = 0;
    e = find(t, t->stlb, t->stlb_size, address, &found);
    if (found)
        e->epoch = 0;
}
