/* SPDX-License-Identifier: MIT */
#include "tools/cairn/bts.h"

#include "tools/cairn/bytes.h"
#include "tools/cairn/loss.h"

static bool index_epoch(const struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_event *e, uint32_t piece)
{
    const uint8_t *p = e->payload;
    if (e->size != sizeof(struct cairn_bts_epoch))
        return false;
    if (log->passing) /* the last one is all that is needed */
        cpu->bts_drains.count = cpu->bts_parts.count = 0;
    struct cairn_bts_drain *d = CAIRN_ADD(cpu->bts_drains);
    d->payload = p;
    d->time = e->time;
    d->reason = p[offsetof(struct cairn_bts_epoch, reason)];
    d->interrupting = p[offsetof(struct cairn_bts_epoch, interrupting)];
    d->number = cairn_get32(p + offsetof(struct cairn_bts_epoch, epoch));
    d->tsc = cairn_get64(p + offsetof(struct cairn_bts_epoch, tsc));
    d->lost = cairn_get64(p + offsetof(struct cairn_bts_epoch, lost));
    d->record_bytes = cairn_get32(p + offsetof(struct cairn_bts_epoch, record_bytes));
    d->record_events = cairn_get32(p + offsetof(struct cairn_bts_epoch, record_events));
    d->tid = cairn_get32(p + offsetof(struct cairn_bts_epoch, tid));
    d->first_part = cpu->bts_parts.count;
    d->piece = piece;
    cpu->bts_drained += d->reason != CAIRN_DS_START;
    cairn_lost_add(&cpu->bts_lost, d->lost);
    return d->record_bytes % CAIRN_BTS_BYTES == 0;
}

static bool index_records(struct cairn_cpu *cpu, const struct cairn_event *e)
{
    const uint8_t *p = e->payload;
    const uint32_t head = sizeof(struct cairn_bts_records);
    if (e->size < head)
        return false;
    uint32_t bytes = cairn_get32(p + offsetof(struct cairn_bts_records, bytes));
    uint32_t epoch = cairn_get32(p + offsetof(struct cairn_bts_records, epoch));
    uint32_t part = cairn_get32(p + offsetof(struct cairn_bts_records, part));
    if (bytes != e->size - head || !bytes || bytes % CAIRN_BTS_BYTES)
        return false;
    struct cairn_bts_drain *d = cpu->bts_drains.count ? &cpu->bts_drains.items[cpu->bts_drains.count - 1] : NULL;
    if (!d || d->number != epoch || d->events_seen != part) {
        cpu->bts_strays += bytes / CAIRN_BTS_BYTES; /* what comes before it is missing */
        return true;
    }
    struct cairn_bts_part *n = CAIRN_ADD(cpu->bts_parts);
    n->at = p + head;
    n->address = cairn_get64(p + offsetof(struct cairn_bts_records, address));
    n->count = bytes / CAIRN_BTS_BYTES;
    n->first = d->bytes_seen / CAIRN_BTS_BYTES;
    d->bytes_seen += bytes;
    d->events_seen++;
    cpu->bts_records += n->count;
    return true;
}

bool cairn_bts_index(const struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_event *event,
                     uint32_t piece)
{
    if (event->size < 2 || event->version != HOOK_VERSION_CAIRN_BTS)
        return false;
    switch (cairn_get16(event->payload)) {
    case CAIRN_BTS_EPOCH:
        return index_epoch(log, cpu, event, piece);
    case CAIRN_BTS_RECORDS:
        return index_records(cpu, event);
    default:
        return false;
    }
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
    branch->from = cairn_get64(p + offsetof(struct ds_bts_record, from));
    branch->to = cairn_get64(p + offsetof(struct ds_bts_record, to));
    return true;
}
