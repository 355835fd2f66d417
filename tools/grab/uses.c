/* SPDX-License-Identifier: MIT */
#include "tools/grab/uses.h"

#include <string.h>

#include "ds/pebs23_layout.h"
#include "tools/grab/base/memory.h"
#include "tools/grab/base/names.h"
#include "tools/pebs/pebs.h"

/* Along one CPU: which event each counter has. */
struct walk {
    struct grab_uses *uses;
    const struct grab_store *store;
    const struct grab_one_cpu *cpu;
    unsigned format;
    size_t enabled;           /* due next */
    size_t on[GRAB_COUNTERS]; /* the use of the counter, + 1; 0: none is known */
    uint64_t due;             /* number of the next drain */
};

/* ---- events ------------------------------------------------------------------------------------------------------ */

static bool is_same(const struct grab_use *a, const struct grab_use *b)
{
    const struct perf_event_attr *x = &a->attr, *y = &b->attr;
    return a->known == b->known && a->config == b->config && a->of_kernel == b->of_kernel &&
           a->collects == b->collects && x->sample_regs_intr == y->sample_regs_intr && x->type == y->type &&
           x->config == y->config && x->config1 == y->config1 && x->sample_period == y->sample_period &&
           x->sample_type == y->sample_type && x->freq == y->freq && x->precise_ip == y->precise_ip &&
           x->exclude_user == y->exclude_user && x->exclude_kernel == y->exclude_kernel &&
           x->use_clockid == y->use_clockid && x->wakeup_events == y->wakeup_events;
}

static size_t find_use(struct grab_uses *uses, const struct grab_use *like)
{
    for (size_t i = 0; i < uses->count; i++)
        if (is_same(&uses->items[i], like))
            return i;
    *(struct grab_use *)GRAB_ADD(uses->items, uses->count, uses->room) = *like;
    return uses->count - 1;
}

static void enable(struct walk *w, const struct grab_enabled *e)
{
    struct grab_use use = {.config = e->config & ~GRAB_NAMES_NOT_COUNTED,
                           .large = e->large,
                           .known = true,
                           .of_kernel = e->of_kernel != 0,
                           .collects = e->flags & GRAB_COLLECTS};
    memcpy(&use.attr, e->attr, sizeof e->attr);
    const size_t i = find_use(w->uses, &use);
    w->uses->items[i].counters |= UINT64_C(1) << e->counter;
    w->on[e->counter] = i + 1;
}

static struct grab_use *use_of(struct walk *w, unsigned counter)
{
    if (!w->on[counter]) {
        const size_t i = find_use(w->uses, &(struct grab_use){0});
        w->uses->items[i].counters |= UINT64_C(1) << counter;
        w->on[counter] = i + 1;
    }
    return &w->uses->items[w->on[counter] - 1];
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* The counters that a record names; format 0 names none: those that are on. */
static uint64_t counters_of(const uint8_t *record, uint32_t size, unsigned format, uint64_t enabled)
{
    uint64_t counters = UINT64_MAX;
    if (cairn_pebs_get(format, record, size, CAIRN_PEBS_COUNTERS, &counters))
        return counters;
    cairn_pebs_get(format, record, size, CAIRN_PEBS_STATUS, &counters); /* all that have overflowed */
    return counters & enabled;
}

static void count_record(struct walk *w, const uint8_t *record, uint32_t size, uint64_t counters)
{
    const uint64_t groups = cairn_pebs_groups(w->format, record, size);
    for (unsigned n = 0; n < GRAB_COUNTERS; n++) {
        if (!(counters >> n & 1))
            continue;
        struct grab_use *u = use_of(w, n);
        u->records++;
        u->smallest = u->smallest && u->smallest < size ? u->smallest : size;
        u->largest = u->largest > size ? u->largest : size;
        u->groups |= groups;
    }
}

/* A drain of `counters`, whose records it has, or had. `last`: bytes of the last one. */
static void count_use(struct walk *w, const struct grab_drained *d, uint64_t counters, uint32_t last, bool gap)
{
    const struct grab_buffer b = grab_buffer(d, w->format);
    for (unsigned n = 0; n < GRAB_COUNTERS; n++) {
        if (!(counters >> n & 1))
            continue;
        struct grab_use *u = use_of(w, n);
        u->drains++;
        u->interrupts += d->head.interrupt;
        u->single += b.threshold <= b.base + last;
        u->full += b.full || b.base + d->head.bytes + last > b.maximum;
        u->incomplete += gap || d->bytes != d->head.bytes;
    }
}

static void count_drain(struct walk *w, const struct grab_drained *d)
{
    const bool gap = d->head.number != w->due;
    uint64_t seen = 0;
    uint32_t size, last = 0;
    w->due = d->head.number + 1;
    for (uint64_t at = 0; (size = grab_record_bytes(w->store, d, w->format, at)); at += size) {
        const uint8_t *record = w->store->records + d->at + at;
        const uint64_t counters = counters_of(record, size, w->format, d->head.pebs_enabled);
        count_record(w, record, size, counters);
        seen |= counters;
        last = size;
    }
    if (!d->head.bytes)
        return;
    w->uses->drains++;
    w->uses->interrupts += d->head.interrupt;
    count_use(w, d, seen, last, gap);
}

static void follow(struct walk *w)
{
    const struct grab_one_cpu *c = w->cpu;
    for (size_t i = 0; i <= c->drain_count; i++) {
        const struct grab_drained *d = i < c->drain_count ? &c->drains[i] : NULL;
        if (d && (d->head.kind == GRAB_START || d->head.kind == GRAB_BTS))
            continue;
        while (w->enabled < c->enabled_count && (!d || c->enabled[w->enabled].drains <= d->head.number))
            enable(w, &c->enabled[w->enabled++]);
        if (d)
            count_drain(w, d);
    }
}

void grab_uses_find(struct grab_uses *uses, const struct grab_store *store, unsigned format)
{
    *uses = (struct grab_uses){0};
    for (unsigned c = 0; c < GRAB_CPUS; c++) {
        struct walk walk = {.uses = uses, .store = store, .cpu = &store->cpu[c], .format = format};
        follow(&walk);
    }
}
