/* SPDX-License-Identifier: MIT */
#include "tools/grab/order.h"

#include <stdbool.h>
#include <stdlib.h>

#include "ds/layout.h"
#include "tools/grab/memory.h"
#include "tools/pebs/pebs.h"

/* ---- times ------------------------------------------------------------------------------------------------------- */

/* Along the records of one drain, as far as they are known. */
struct records {
    const struct grab_store *store;
    const struct grab_drained *d;
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
    const bool there = grab_record_bytes(r->store, r->d, r->format, r->at) && ds_pebs_has_tsc(r->format);
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
    for (size_t i = 0; i <= c->drain_count; i++) {
        struct grab_drained *d = i < c->drain_count ? &c->drains[i] : NULL;
        struct records r = {store, d, format, 0, last, UINT64_MAX};
        const bool start = d && d->head.kind == GRAB_START;
        const uint64_t mapped = d ? grab_clock_tsc(clock, d->head.time) : UINT64_MAX;
        if (d)
            look(&r);
        for (; !start && next < c->switch_count && (!d || c->switches[next].s.drains <= d->head.number); next++) {
            struct grab_switched *s = &c->switches[next];
            const uint64_t base = d ? grab_area(d).pebs_buffer_base : 0;
            if (d && s->s.index >= base)
                pass(&r, s->s.index - base);
            const uint64_t high = r.next < mapped ? r.next : mapped;
            s->tsc = move(order, grab_clock_tsc(clock, s->s.time), last > r.last ? last : r.last, high);
            last = s->tsc;
        }
        if (!d)
            return;
        pass(&r, d->bytes);
        struct records after = {store, i + 1 < c->drain_count ? d + 1 : NULL, format, 0, 0, UINT64_MAX};
        if (after.d)
            look(&after);
        d->tsc = move(order, mapped, last > r.last ? last : r.last, after.next);
        last = d->tsc;
    }
}

/* ---- waits ------------------------------------------------------------------------------------------------------- */

struct event {
    struct grab_switched *s;
    uint64_t tsc;
    size_t number; /* on its CPU */
};

static int by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->tsc != y->tsc)
        return x->tsc < y->tsc ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* When each thread left a CPU last, by its ID. */
struct left {
    uint32_t *tid;
    uint64_t *tsc;
    size_t size, used; /* size: a power of 2 */
};

static size_t find(const struct left *l, uint32_t tid)
{
    size_t i = (tid * UINT32_C(2654435761)) & (l->size - 1);
    while (l->tid[i] && l->tid[i] != tid)
        i = (i + 1) & (l->size - 1);
    return i;
}

static void *zeroed(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    size_t none = 0;
    return memory ? memory : grab_grow(NULL, SIZE_MAX / 2, &none, size); /* which says so and ends */
}

static void widen(struct left *l)
{
    const struct left old = *l;
    l->size = old.size ? 2 * old.size : 1024;
    l->tid = zeroed(l->size, sizeof *l->tid);
    l->tsc = zeroed(l->size, sizeof *l->tsc);
    for (size_t i = 0; i < old.size; i++)
        if (old.tid[i]) {
            const size_t to = find(l, old.tid[i]);
            l->tid[to] = old.tid[i];
            l->tsc[to] = old.tsc[i];
        }
    free(old.tid);
    free(old.tsc);
}

static void find_waits(struct grab_store *store, uint64_t tick)
{
    struct left left = {0};
    size_t count = 0, all = 0;
    for (unsigned c = 0; c < GRAB_CPUS; c++)
        all += store->cpu[c].switch_count;
    struct event *events = zeroed(all + 1, sizeof *events);
    for (unsigned c = 0; c < GRAB_CPUS; c++)
        for (size_t i = 0; i < store->cpu[c].switch_count; i++)
            events[count++] = (struct event){&store->cpu[c].switches[i], store->cpu[c].switches[i].tsc, i};
    qsort(events, count, sizeof *events, by_time);
    for (size_t i = 0; i < count; i++) {
        struct grab_switched *s = events[i].s;
        if (2 * left.used >= left.size)
            widen(&left);
        if (s->s.new_tid) {
            const size_t in = find(&left, s->s.new_tid);
            const uint64_t ticks = left.tid[in] ? (s->tsc - left.tsc[in]) / tick : 0;
            s->wait = ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
        }
        if (s->s.old_tid) {
            const size_t out = find(&left, s->s.old_tid);
            left.used += !left.tid[out];
            left.tid[out] = s->s.old_tid;
            left.tsc[out] = s->tsc;
        }
    }
    free(left.tid);
    free(left.tsc);
    free(events);
}

void grab_order(struct grab_store *store, const struct grab_clock *clock, unsigned format, uint64_t tick,
                struct grab_order *order)
{
    *order = (struct grab_order){0};
    for (unsigned c = 0; c < GRAB_CPUS; c++)
        order_cpu(store, &store->cpu[c], clock, format, order);
    find_waits(store, tick);
}
