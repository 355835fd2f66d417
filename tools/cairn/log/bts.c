/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/bts.h"

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/model/loss.h"

/* False: it cannot be. */
static bool read_epoch(struct cairn_bts_drain *d, const struct cairn_event *e)
{
    const uint8_t *p = e->payload;
    if (e->size != sizeof(struct cairn_bts_epoch))
        return false;
    *d = (struct cairn_bts_drain){
        .payload = p,
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
    return true;
}

struct records { /* what an event of records says */
    struct cairn_bts_part part; /* but `first` */
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
    r->part.at = p + head;
    r->part.address = cairn_get64(p + offsetof(struct cairn_bts_records, address));
    r->part.count = r->bytes / CAIRN_BTS_BYTES;
    return r->bytes == e->size - head && r->bytes && r->bytes % CAIRN_BTS_BYTES == 0;
}

/* Takes them for the next ones of the drain. False: they are not. `d`: NULL, there is none. */
static bool join(struct cairn_bts_drain *d, struct records *r)
{
    if (!d || d->number != r->epoch || d->events_seen != r->number)
        return false; /* what comes before it is missing */
    r->part.first = d->bytes_seen / CAIRN_BTS_BYTES;
    d->bytes_seen += r->bytes;
    d->events_seen++;
    return true;
}

static bool index_epoch(const struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_event *e, uint32_t piece)
{
    struct cairn_bts_drain d;
    if (!read_epoch(&d, e))
        return false;
    if (log->passing) /* the last one is all that is needed */
        cpu->bts_drains.count = cpu->bts_parts.count = 0;
    d.first_part = cpu->bts_parts.count;
    d.piece = piece;
    *CAIRN_ADD(cpu->bts_drains) = d;
    cpu->bts_drained += d.reason != CAIRN_DS_START;
    cairn_lost_add(&cpu->bts_lost, d.lost);
    return d.record_bytes % CAIRN_BTS_BYTES == 0;
}

static bool index_records(struct cairn_cpu *cpu, const struct cairn_event *e)
{
    struct records r;
    if (!read_records(&r, e))
        return false;
    if (!join(cpu->bts_drains.count ? &cpu->bts_drains.items[cpu->bts_drains.count - 1] : NULL, &r)) {
        cpu->bts_strays += r.part.count;
        return true;
    }
    *CAIRN_ADD(cpu->bts_parts) = r.part;
    cpu->bts_records += r.part.count;
    return true;
}

/* Its kind, 0: it is none of these. */
static uint16_t kind_of(const struct cairn_event *event)
{
    return event->size < 2 || event->version != HOOK_VERSION_CAIRN_BTS ? 0 : cairn_get16(event->payload);
}

bool cairn_bts_index(const struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_event *event,
                     uint32_t piece)
{
    switch (kind_of(event)) {
    case CAIRN_BTS_EPOCH:
        return index_epoch(log, cpu, event, piece);
    case CAIRN_BTS_RECORDS:
        return index_records(cpu, event);
    default:
        return false;
    }
}

bool cairn_bts_follow(struct cairn_bts_step *s, const struct cairn_event *event)
{
    struct records r;
    s->first = s->count = 0;
    if (event->hook != HOOK_CAIRN_BTS || event->unknown_items)
        return false;
    switch (kind_of(event)) {
    case CAIRN_BTS_EPOCH:
        return s->any = read_epoch(&s->drain, event);
    case CAIRN_BTS_RECORDS:
        if (!read_records(&r, event) || !join(s->any ? &s->drain : NULL, &r))
            return false;
        s->at = r.part.at;
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

const uint8_t *cairn_bts_at(const struct cairn_cpu *cpu, const struct cairn_bts_drain *drain, uint32_t i)
{
    size_t low = drain->first_part, high = low + drain->events_seen;
    if (i >= drain->bytes_seen / CAIRN_BTS_BYTES)
        return NULL;
    while (high - low > 1) { /* the last part whose first record is not behind `i` */
        size_t middle = low + (high - low) / 2;
        if (cpu->bts_parts.items[middle].first <= i)
            low = middle;
        else
            high = middle;
    }
    const struct cairn_bts_part *part = &cpu->bts_parts.items[low];
    return part->at + (size_t)(i - part->first) * CAIRN_BTS_BYTES;
}

bool cairn_bts_record(const struct cairn_cpu *cpu, const struct cairn_bts_drain *drain, uint32_t i,
                      struct cairn_branch *branch)
{
    const uint8_t *p = cairn_bts_at(cpu, drain, i);
    if (!p)
        return false;
    *branch = read_branch(p);
    return true;
}
