/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/drains.h"

#include <stdlib.h>
#include <string.h>

#include "ds/layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/model/filter.h"
#include "tools/cairn/model/loss.h"
#include "tools/cairn/log/pebs_fields.h"

/* Bytes of records behind one drain, after which those that are there make a group: more than any buffer of this kernel
 * has. A log whose drains are missing costs that for each CPU, and lists of the records a few times as long. */
#define GROUP_MOST (UINT32_C(8) << 20)

/* ---- one event -------------------------------------------------------------------------------------------------- */

bool cairn_drains_begins(const struct cairn_event *e)
{
    const uint8_t *p = e->payload;
    if (e->hook != HOOK_CAIRN_DS || e->version != HOOK_VERSION_CAIRN_DS || e->size < sizeof(struct cairn_ds_epoch) ||
        cairn_get16(p) != CAIRN_DS_EPOCH)
        return false;
    uint32_t bytes = e->size - (uint32_t)sizeof(struct cairn_ds_epoch);
    uint8_t format = p[offsetof(struct cairn_ds_epoch, format)];
    return bytes == ds_area_bytes(format, false) || bytes == ds_area_bytes(format, true);
}

static bool index_epoch(struct cairn_epochs *epochs, const struct cairn_event *e, uint32_t piece)
{
    const uint8_t *p = e->payload;
    if (!cairn_drains_begins(e))
        return false;
    struct cairn_epoch *n = CAIRN_ADD(*epochs);
    n->area = p + sizeof(struct cairn_ds_epoch);
    n->area_bytes = e->size - (uint32_t)sizeof(struct cairn_ds_epoch);
    n->time = e->time;
    n->reason = p[offsetof(struct cairn_ds_epoch, reason)];
    n->format = p[offsetof(struct cairn_ds_epoch, format)];
    n->number = cairn_get32(p + offsetof(struct cairn_ds_epoch, epoch));
    n->tsc = cairn_get64(p + offsetof(struct cairn_ds_epoch, tsc));
    n->lost = cairn_get64(p + offsetof(struct cairn_ds_epoch, lost));
    n->record_bytes = cairn_get32(p + offsetof(struct cairn_ds_epoch, record_bytes));
    n->record_events = cairn_get32(p + offsetof(struct cairn_ds_epoch, record_events));
    n->piece = piece;
    return true;
}

/* Instruction and time of a record, where its format has them. */
static void read_record(struct cairn_record *r, const struct cairn_session *session, bool fault_like)
{
    if (!cairn_pebs_get(r->format, r->at, r->size, CAIRN_PEBS_EVENTING_IP, &r->ip)) {
        cairn_pebs_get(r->format, r->at, r->size, CAIRN_PEBS_RIP, &r->ip);
        r->after = !fault_like;
    }
    r->timed = cairn_pebs_get(r->format, r->at, r->size, CAIRN_PEBS_TSC, &r->tsc) && session->known;
    if (r->timed)
        r->time = trace_clock_units(&session->clock, r->tsc);
}

static bool index_records(struct cairn_epochs *epochs, struct cairn_records *records, const struct cairn_log *log,
                          uint32_t cpu, const struct cairn_event *e, uint32_t piece)
{
    const uint8_t *p = e->payload;
    const uint32_t head = sizeof(struct cairn_ds_records);
    if (e->size < head || cairn_get32(p + offsetof(struct cairn_ds_records, bytes)) != e->size - head)
        return false;
    uint8_t format = p[offsetof(struct cairn_ds_records, format)];
    uint32_t epoch = cairn_get32(p + offsetof(struct cairn_ds_records, epoch)), bytes = e->size - head;
    uint64_t address = cairn_get64(p + offsetof(struct cairn_ds_records, address));
    uint32_t count = 0;
    for (uint32_t at = 0; at < bytes;) {
        uint64_t basic[sizeof(struct ds_pebs_basic) / 8] = {0}; /* aligned, for ds_pebs_record_size */
        memcpy(basic, p + head + at, bytes - at < sizeof(basic) ? bytes - at : sizeof(basic));
        uint32_t size = ds_pebs_record_size(format, basic, bytes - at);
        if (!size)
            return false;
        struct cairn_record *r = CAIRN_ADD(*records);
        r->at = p + head + at;
        r->address = address + at;
        r->size = size;
        r->format = format;
        r->epoch = epoch;
        r->piece = piece;
        r->time = e->time;
        read_record(r, &log->session, log->cpu[cpu].fault_like);
        at += size;
        count++;
    }
    if (epochs->count) {
        struct cairn_epoch *last = &epochs->items[epochs->count - 1];
        if (last->number == epoch) {
            last->bytes_seen += bytes;
            last->events_seen++;
            last->records += count;
        }
    }
    return true;
}

static bool index_swallowed(struct cairn_epochs *epochs, const struct cairn_event *e)
{
    struct cairn_ds_swallowed s;
    if (e->size != sizeof(s) || e->version != HOOK_VERSION_CAIRN_SWALLOWED)
        return false;
    memcpy(&s, e->payload, sizeof(s));
    struct cairn_epoch *last = epochs->count ? &epochs->items[epochs->count - 1] : NULL;
    if (last && last->number == s.epoch) /* else its epoch is missing */
        last->swallowed = s.samples;
    return true;
}

bool cairn_drains_index(struct cairn_epochs *epochs, struct cairn_records *records, const struct cairn_log *log,
                        uint32_t cpu, const struct cairn_event *e, uint32_t piece)
{
    if (e->hook == HOOK_CAIRN_SWALLOWED)
        return index_swallowed(epochs, e);
    if (e->size < 2 || e->version != HOOK_VERSION_CAIRN_DS)
        return false;
    switch (cairn_get16(e->payload)) {
    case CAIRN_DS_EPOCH:
        return index_epoch(epochs, e, piece);
    case CAIRN_DS_RECORDS:
        return index_records(epochs, records, log, cpu, e, piece);
    default:
        return false;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct cairn_record *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

void cairn_records_order(struct cairn_records *records)
{
    for (size_t i = 1; i < records->count; i++)
        if (records->items[i].time < records->items[i - 1].time) {
            qsort(records->items, records->count, sizeof(*records->items), by_time);
            return;
        }
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

void cairn_group_init(struct cairn_group *g, const struct cairn_log *log, uint32_t cpu)
{
    memset(g, 0, offsetof(struct cairn_group, walk));
    g->log = log;
    g->cpu = cpu;
    g->ended = !log->cpu[cpu].ds_events;
    if (g->ended)
        return;
    cairn_walk_init(&g->walk, log, cpu);
}

/* Takes an event over; where its payload lies is told once all have come. */
static void take_event(struct cairn_group *g, const struct cairn_event *e)
{
    while (g->room - g->used < e->size)
        g->bytes = cairn_grow(g->bytes, g->room, &g->room, 1);
    memcpy(g->bytes + g->used, e->payload, e->size);
    struct cairn_event *kept = CAIRN_ADD(g->events);
    *kept = *e;
    g->used += e->size;
}

bool cairn_group_next(struct cairn_group *g)
{
    struct cairn_event e;
    if (g->ended)
        return false;
    g->epochs.count = g->records.count = g->events.count = g->used = 0;
    if (g->has_ahead)
        take_event(g, &g->ahead);
    g->has_ahead = false;
    while (!(g->ended = !cairn_walk_next(&g->walk, &e))) {
        if (e.hook != HOOK_CAIRN_DS && e.hook != HOOK_CAIRN_SWALLOWED)
            continue;
        if (g->events.count && (cairn_drains_begins(&e) || g->used > GROUP_MOST)) {
            g->ahead = e;
            g->has_ahead = true;
            cairn_walk_hold(&g->walk);
            break;
        }
        take_event(g, &e);
    }
    const uint8_t *p = g->bytes;
    for (size_t i = 0; i < g->events.count; i++) {
        g->events.items[i].payload = p;
        p += g->events.items[i].size;
        cairn_drains_index(&g->epochs, &g->records, g->log, g->cpu, &g->events.items[i], g->events.items[i].piece);
    }
    cairn_records_order(&g->records);
    return g->events.count != 0;
}

const struct cairn_epoch *cairn_group_drain(struct cairn_group *g)
{
    while (cairn_group_next(g))
        if (g->epochs.count)
            return g->epochs.items;
    return NULL;
}

void cairn_group_free(struct cairn_group *g)
{
    free(g->epochs.items);
    free(g->records.items);
    free(g->bytes);
    free(g->events.items);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

void cairn_drains_add(struct cairn_drain_sum *sum, const struct cairn_epoch *e, bool passes)
{
    if (sum->throttled && e->reason != CAIRN_DS_RECONFIGURE) { /* which does not end it */
        sum->cycles += e->tsc - sum->since;
        sum->throttled = false;
    }
    if (!passes)
        return;
    sum->drains += e->reason != CAIRN_DS_START;
    sum->missing_bytes += cairn_epoch_missing(e);
    cairn_lost_add(&sum->dropped, e->lost);
    cairn_lost_add(&sum->swallowed, e->swallowed);
    if (e->reason == CAIRN_DS_THROTTLE) {
        sum->throttles++;
        sum->throttled = true;
        sum->since = e->tsc;
    }
}

struct cairn_drain_sum cairn_drains_passed(const struct cairn_log *log, uint32_t cpu)
{
    struct cairn_drain_sum sum = {0};
    struct cairn_group g;
    if (!cairn_filter_narrow())
        return log->cpu[cpu].drains;
    cairn_group_init(&g, log, cpu);
    do
        for (size_t i = 0; i < g.epochs.count; i++)
            cairn_drains_add(&sum, &g.epochs.items[i], cairn_filter_time(g.epochs.items[i].time));
    while (cairn_group_next(&g));
    cairn_group_free(&g);
    return sum;
}
