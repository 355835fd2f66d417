/* SPDX-License-Identifier: MIT */
#include "tools/grab/order.h"

#include <stdbool.h>
#include <stdlib.h>

#include "ds/layout.h"
#include "tools/grab/threads.h"
#include "tools/pebs/pebs.h"

/* ---- times ------------------------------------------------------------------------------------------------------- */

/* Along the records of one drain, as far as they are known. */
struct records {
    const struct grab_store *store;
    const struct grab_drained *d; /* NULL: there are none */
    unsigned format;
    uint64_t at;   /* of the next record */
    uint64_t last; /* TSC of the one before it; 0: there is none */
    uint64_t next; /* TSC of the next; UINT64_MAX: there is none */
};

static uint64_t tsc_of(const struct records *r, uint64_t at)
{
    uint64_t tsc = 0;
    const uint8_t *record = r->store->records + r->d->at + at;
    cairn_pebs_get(r->format, record, (uint32_t)(r->d->bytes - at), CAIRN_PEBS_TSC, &tsc);
    return tsc;
}

static void look(struct records *r)
{
    const bool there = r->d && grab_record_bytes(r->store, r->d, r->format, r->at) && ds_pebs_has_tsc(r->format);
    r->next = there ? tsc_of(r, r->at) : UINT64_MAX;
}

/* To the first record that does not end at `end` bytes or before. */
static void pass(struct records *r, uint64_t end)
{
    uint32_t size;
    while ((size = grab_record_bytes(r->store, r->d, r->format, r->at)) && r->at + size <= end) {
        if (ds_pebs_has_tsc(r->format) && tsc_of(r, r->at) > r->last)
            r->last = tsc_of(r, r->at);
        r->at += size;
    }
    look(r);
}

/* Of the first drain of PEBS from `i` on. */
static struct records records_from(const struct grab_store *store, const struct grab_one_cpu *c, size_t i,
                                   unsigned format)
{
    while (i < c->drain_count && c->drains[i].head.kind == GRAB_BTS)
        i++;
    struct records r = {.store = store, .d = i < c->drain_count ? &c->drains[i] : NULL, .format = format};
    look(&r);
    return r;
}

/* Drains of BTS in front of `i` are not after the event behind them, which was moved. */
static void bring_back(struct grab_one_cpu *c, size_t i, uint64_t tsc)
{
    while (i-- && c->drains[i].head.kind == GRAB_BTS && c->drains[i].tsc > tsc)
        c->drains[i].tsc = tsc;
}

/* Within these two, which the order allows; where they contradict each other, not before the first. */
static uint64_t move(struct grab_order *order, uint64_t tsc, uint64_t low, uint64_t high)
{
    const uint64_t to = tsc < low || high < low ? low : tsc > high ? high : tsc;
    const uint64_t by = to > tsc ? to - tsc : tsc - to;
    order->moved += by != 0;
    order->most = by > order->most ? by : order->most;
    return to;
}

static void order_cpu(struct grab_store *store, struct grab_one_cpu *c, const struct grab_clock *clock, unsigned format,
                      struct grab_order *order)
{
    uint64_t last = 0;
    size_t next = 0; /* switch */
    struct records r = records_from(store, c, 0, format);
    for (size_t i = 0; i <= c->drain_count; i++) {
        struct grab_drained *d = i < c->drain_count ? &c->drains[i] : NULL;
        const bool start = d && d->head.kind == GRAB_START;
        const uint64_t mapped = d ? grab_clock_tsc(clock, d->head.time) : UINT64_MAX;
        for (; !start && next < c->switch_count && (!d || grab_before(&c->switches[next], d)); next++) {
            struct grab_switched *s = &c->switches[next];
            const uint64_t base = r.d ? grab_buffer(r.d, format).base : 0;
            const bool missing =
                r.d && s->s.drains != r.d->head.number; /* its drain: it is before this one's records */
            const bool stamped = r.d && !missing && s->s.index && s->s.index >= base;
            if (stamped)
                pass(&r, s->s.index - base);
            const uint64_t high = (stamped || missing) && r.next < mapped ? r.next : mapped;
            s->tsc = move(order, grab_clock_tsc(clock, s->s.time), last > r.last ? last : r.last, high);
            last = s->tsc;
            bring_back(c, i, last);
        }
        if (!d)
            return;
        if (d->head.kind == GRAB_BTS) {
            d->tsc = mapped > last ? mapped : last;
            continue;
        }
        pass(&r, d->bytes);
        const struct records after = records_from(store, c, i + 1, format);
        d->tsc = move(order, mapped, last > r.last ? last : r.last, after.next);
        last = d->tsc;
        bring_back(c, i, last);
        r = after;
    }
}

/* ---- waits ------------------------------------------------------------------------------------------------------- */

static void find_waits(struct grab_store *store, uint64_t tick)
{
    size_t count;
    struct grab_sight *sights = grab_sights_find(store, &count);
    for (size_t i = 1; i < count; i++) {
        const struct grab_sight *left = &sights[i - 1], *in = &sights[i];
        if (!in->tid || left->tid != in->tid || in->tid != in->s->s.new_tid || left->tid != left->s->s.old_tid)
            continue;
        const uint64_t ticks = (in->s->tsc - left->s->tsc) / tick;
        in->s->wait = ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
    }
    free(sights);
}

void grab_order(struct grab_store *store, const struct grab_clock *clock, unsigned format, uint64_t tick,
                struct grab_order *order)
{
    *order = (struct grab_order){0};
    for (unsigned c = 0; c < GRAB_CPUS; c++)
        order_cpu(store, &store->cpu[c], clock, format, order);
    find_waits(store, tick);
}
