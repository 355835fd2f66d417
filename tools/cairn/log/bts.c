/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/bts.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/log/drains.h"
#include "trace/wire/bts.h"

/* ---- one event --------------------------------------------------------------------------------------------------- */

/* False: it cannot be. */
static bool read_epoch(struct cairn_bts_drain *d, const struct cairn_event *e)
{
    const uint8_t *p = e->payload;
    if (e->size != sizeof(struct cairn_bts_epoch))
        return false;
    *d = (struct cairn_bts_drain){
        .time = e->time,
        .reason = p[offsetof(struct cairn_bts_epoch, reason)],
        .interrupting = p[offsetof(struct cairn_bts_epoch, interrupting)],
        .number = cairn_get32(p + offsetof(struct cairn_bts_epoch, epoch)),
        .tsc = cairn_get64(p + offsetof(struct cairn_bts_epoch, tsc)),
        .lost = cairn_get64(p + offsetof(struct cairn_bts_epoch, lost)),
        .record_bytes = cairn_get32(p + offsetof(struct cairn_bts_epoch, record_bytes)),
        .record_events = cairn_get32(p + offsetof(struct cairn_bts_epoch, record_events)),
        .tid = cairn_get32(p + offsetof(struct cairn_bts_epoch, tid)),
    };
    memcpy(d->area, p + offsetof(struct cairn_bts_epoch, area), sizeof(d->area));
    return true;
}

struct records {                /* what an event of records says */
    struct cairn_bts_part part; /* but `first` */
    const uint8_t *at;
    uint32_t bytes, epoch, number;
};

static bool read_records(struct records *r, const struct cairn_event *e)
{
    const uint8_t *p = e->payload;
    const uint32_t head = sizeof(struct cairn_bts_records);
    if (e->size < head)
        return false;
    r->bytes = cairn_get32(p + offsetof(struct cairn_bts_records, bytes));
    r->epoch = cairn_get32(p + offsetof(struct cairn_bts_records, epoch));
    r->number = cairn_get32(p + offsetof(struct cairn_bts_records, part));
    r->at = p + head;
    r->part.address = cairn_get64(p + offsetof(struct cairn_bts_records, address));
    r->part.count = r->bytes / CAIRN_BTS_BYTES;
    return r->bytes == e->size - head && r->bytes && r->bytes % CAIRN_BTS_BYTES == 0;
}

/* Takes them for the next ones of the drain. False: they are not. `any`: there is one. */
static bool join(struct cairn_bts_drain *d, bool any, struct records *r)
{
    if (!any || d->number != r->epoch || d->events_seen != r->number)
        return false; /* what comes before it is missing */
    r->part.first = d->bytes_seen / CAIRN_BTS_BYTES;
    d->bytes_seen += r->bytes;
    d->events_seen++;
    return true;
}

/* Its kind, 0: it is none of these. */
static uint16_t kind_of(const struct cairn_event *event)
{
    const bool ours = event->hook == HOOK_CAIRN_BTS && !event->unknown_items;
    return !ours || event->size < 2 || event->version != HOOK_VERSION_CAIRN_BTS ? 0 : cairn_get16(event->payload);
}

bool cairn_bts_index(struct cairn_cpu *cpu, const struct cairn_event *e)
{
    struct cairn_bts_drain *last = &cpu->indexing.bts;
    struct records r;
    switch (kind_of(e)) {
    case CAIRN_BTS_EPOCH:
        if (!read_epoch(last, e))
            return false;
        cpu->bts.epochs++;
        cpu->bts.drained += last->reason != CAIRN_DS_START;
        cairn_lost_add(&cpu->bts.lost, last->lost);
        return last->record_bytes % CAIRN_BTS_BYTES == 0;
    case CAIRN_BTS_RECORDS:
        if (!read_records(&r, e))
            return false;
        *(join(last, cpu->bts.epochs != 0, &r) ? &cpu->bts.records : &cpu->bts.strays) += r.part.count;
        return true;
    default:
        return false;
    }
}

bool cairn_bts_follow(struct cairn_bts_step *s, const struct cairn_event *event)
{
    struct records r;
    s->first = s->count = 0;
    switch (kind_of(event)) {
    case CAIRN_BTS_EPOCH:
        return s->any = read_epoch(&s->drain, event);
    case CAIRN_BTS_RECORDS:
        if (!read_records(&r, event) || !join(&s->drain, s->any, &r))
            return false;
        s->at = r.at;
        s->address = r.part.address;
        s->first = r.part.first;
        s->count = r.part.count;
        return true;
    default:
        return false;
    }
}

static struct cairn_branch read_branch(const uint8_t *p)
{
    return (struct cairn_branch){
        .from = cairn_get64(p + offsetof(struct ds_bts_record, from)),
        .to = cairn_get64(p + offsetof(struct ds_bts_record, to)),
        .flags = cairn_get64(p + offsetof(struct ds_bts_record, flags)),
    };
}

struct cairn_branch cairn_bts_step_record(const struct cairn_bts_step *s, uint32_t i)
{
    return read_branch(s->at + (size_t)i * CAIRN_BTS_BYTES);
}

bool cairn_bts_complete(const struct cairn_bts_drain *drain)
{
    return drain->bytes_seen == drain->record_bytes && drain->events_seen == drain->record_events;
}

/* ---- a drain ----------------------------------------------------------------------------------------------------- */

void cairn_bts_group_init(struct cairn_bts_group *g, const struct cairn_log *log, uint32_t cpu)
{
    memset(g, 0, offsetof(struct cairn_bts_group, walk));
    cairn_walk_init(&g->walk, log, cpu);
}

void cairn_bts_group_seek(struct cairn_bts_group *g, uint32_t piece)
{
    g->has_ahead = false;
    cairn_walk_init(&g->walk, g->walk.log, (uint32_t)(g->walk.cpu - g->walk.log->cpu));
    g->walk.next = piece;
}

static void take_records(struct cairn_bts_group *g)
{
    const struct cairn_bts_step *s = &g->step;
    const size_t bytes = (size_t)s->count * CAIRN_BTS_BYTES;
    while (g->room - g->used < bytes)
        g->bytes = cairn_grow(g->bytes, g->room, &g->room, 1);
    memcpy(g->bytes + g->used, s->at, bytes);
    g->used += bytes;
    *CAIRN_ADD(g->parts) = (struct cairn_bts_part){s->address, s->count, s->first};
}

const struct cairn_bts_drain *cairn_bts_group_next(struct cairn_bts_group *g)
{
    struct cairn_event e;
    g->parts.count = g->used = 0;
    g->step.any = g->has_ahead && cairn_bts_follow(&g->step, &g->ahead);
    g->piece = g->ahead.piece;
    g->has_ahead = false;
    while (cairn_walk_next(&g->walk, &e)) {
        const bool begins = kind_of(&e) == CAIRN_BTS_EPOCH;
        if (begins && g->step.any) {
            g->ahead = e;
            g->has_ahead = true;
            cairn_walk_hold(&g->walk);
            break;
        }
        if (cairn_bts_follow(&g->step, &e) && !begins)
            take_records(g);
        if (begins)
            g->piece = e.piece;
    }
    g->next_piece = g->has_ahead ? g->ahead.piece : (uint32_t)g->walk.cpu->piece_count;
    return g->step.any ? &g->step.drain : NULL;
}

const uint8_t *cairn_bts_at(const struct cairn_bts_group *g, uint32_t i)
{
    const size_t at = (size_t)i * CAIRN_BTS_BYTES;
    return at < g->used ? g->bytes + at : NULL;
}

bool cairn_bts_record(const struct cairn_bts_group *g, uint32_t i, struct cairn_branch *branch)
{
    const uint8_t *p = cairn_bts_at(g, i);
    if (p)
        *branch = read_branch(p);
    return p;
}

void cairn_bts_group_free(struct cairn_bts_group *g)
{
    free(g->parts.items);
    free(g->bytes);
}
