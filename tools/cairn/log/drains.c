/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/drains.h"

#include <stdlib.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/pebs/pebs.h"

/* Bytes of records behind one drain, after which those that are there make a group: more than any buffer of this kernel
 * has. A log whose drains are missing costs that for each CPU, and lists of the records a few times as long. */
#define GROUP_MOST (UINT32_C(17) << 20)

/* ---- one event -------------------------------------------------------------------------------------------------- */

bool cairn_drains_begins(const struct cairn_event *e)
{
    const uint8_t *p = e->payload;
    if (e->hook != HOOK_CAIRN_DS || e->version != HOOK_VERSION_CAIRN_DS || e->size < sizeof(struct cairn_ds_epoch) ||
        cairn_get16(p) != CAIRN_DS_EPOCH)
        return false;
    uint32_t bytes = e->size - (uint32_t)sizeof(struct cairn_ds_epoch);
    uint8_t format = p[offsetof(struct cairn_ds_epoch, format)];
    if (format == DS_FORMAT_ARCH)
        return bytes == sizeof(struct ds_arch_registers);
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
    n->base = cairn_epoch_buffer(n).base;
    return true;
}

struct cairn_buffer cairn_epoch_buffer(const struct cairn_epoch *e)
{
    const uint8_t *p = e->area;
    if (e->format != DS_FORMAT_ARCH) {
        const uint64_t base = cairn_get64(p + offsetof(struct ds_area_60, pebs_buffer_base));
        return (struct cairn_buffer){base, cairn_get64(p + offsetof(struct ds_area_60, pebs_index)),
                                     cairn_get64(p + offsetof(struct ds_area_60, pebs_absolute_maximum)),
                                     cairn_get64(p + offsetof(struct ds_area_60, pebs_interrupt_threshold)), base};
    }
    const uint64_t word = cairn_get64(p + offsetof(struct ds_arch_registers, base));
    const uint64_t index = cairn_get64(p + offsetof(struct ds_arch_registers, index));
    const uint64_t base = word & IA32_PEBS_BASE_ADDRESS;
    return (struct cairn_buffer){base, base + ia32_pebs_index_wr(index), base + ia32_pebs_base_bytes(word),
                                 base + ia32_pebs_index_thresh(index), 0};
}

struct cairn_buffer cairn_epoch_bts_buffer(const struct cairn_epoch *e)
{
    const uint8_t *p = e->area;
    return (struct cairn_buffer){.base = cairn_get64(p + offsetof(struct ds_area_60, bts_buffer_base)),
                                 .index = cairn_get64(p + offsetof(struct ds_area_60, bts_index)),
                                 .maximum = cairn_get64(p + offsetof(struct ds_area_60, bts_absolute_maximum)),
                                 .threshold = cairn_get64(p + offsetof(struct ds_area_60, bts_interrupt_threshold))};
}

uint64_t cairn_arch_cfg_c(const struct cairn_epoch *e, unsigned counter)
{
    const bool fixed = counter >= DS_COUNTER_FIXED;
    const uint32_t first =
        fixed ? offsetof(struct ds_arch_registers, fx_cfg_c) : offsetof(struct ds_arch_registers, gp_cfg_c);
    return cairn_get64(e->area + first + 8 * (fixed ? counter - DS_COUNTER_FIXED : counter));
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

struct target { /* where records of one event go */
    struct cairn_epochs *epochs;
    struct cairn_records *records;
    const struct cairn_log *log;
    uint32_t cpu;
    uint64_t address; /* of the event's first byte */
    int64_t time;
    uint32_t epoch, piece;
    uint8_t format;
};

/* The epoch they are of, if its drain is there. */
static struct cairn_epoch *own_epoch(struct cairn_epochs *epochs, uint32_t number)
{
    struct cairn_epoch *last = epochs->count ? &epochs->items[epochs->count - 1] : NULL;
    return last && last->number == number ? last : NULL;
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

/* What PebsIndex was: a record of architectural PEBS has a physical address, the index is an offset. */
static uint64_t index_of(const struct target *t, uint64_t address)
{
    uint64_t base = t->log->cpu[t->cpu].pebs.base;
    const struct cairn_epoch *e = own_epoch(t->epochs, t->epoch);
    if (t->format != DS_FORMAT_ARCH)
        return address;
    if (e && e->format == DS_FORMAT_ARCH)
        base = e->base; /* its area may be gone, while the log is indexed */
    return base ? address - base : CAIRN_NO_INDEX;
}

static void add_record(const struct target *t, const uint8_t *at, uint64_t address, uint32_t size, uint32_t piece)
{
    const uint32_t number = (uint32_t)t->records->count;
    struct cairn_record *r = CAIRN_ADD(*t->records);
    r->at = at;
    r->address = address;
    r->index = index_of(t, address);
    r->size = size;
    r->format = t->format;
    r->epoch = t->epoch;
    r->piece = piece;
    r->number = number;
    r->time = t->time;
    read_record(r, &t->log->session, t->log->cpu[t->cpu].pebs.fault_like);
}

/* Whole records have come. */
static void count_records(const struct target *t, uint32_t bytes, uint32_t records)
{
    struct cairn_epoch *e = own_epoch(t->epochs, t->epoch);
    if (!e)
        return;
    e->bytes_seen += bytes;
    e->records += records;
}

/* ---- records in parts (format 15) -------------------------------------------------------------------------------- */

/* A part of `bytes`, the first one or the next. False: the record ends within it, or what it holds is none. */
static bool take_part(const struct target *t, const uint8_t *part, uint32_t bytes)
{
    struct cairn_join *j = &t->records->join;
    uint32_t whole;
    while (j->room - j->used < bytes)
        j->bytes = cairn_grow(j->bytes, j->room, &j->room, 1);
    memcpy(j->bytes + j->used, part, bytes);
    j->used += bytes;
    j->next = t->address + bytes;
    const uint32_t size = cairn_pebs_size(t->format, j->bytes, (uint32_t)j->used, &whole);
    if (!whole || (size && size != j->used))
        return false;
    j->end = whole == UINT32_MAX ? UINT64_MAX : j->address + whole;
    if (!size)
        return true;
    *CAIRN_ADD(t->records->joined) = j->bytes;
    add_record(t, j->bytes, j->address, size, j->piece);
    count_records(t, size, 1);
    j->bytes = NULL;
    j->used = j->room = 0;
    j->open = false;
    return true;
}

/* What is open comes to no end. */
static void tear(struct cairn_epochs *epochs, struct cairn_join *j)
{
    struct cairn_epoch *e = own_epoch(epochs, j->epoch);
    if (j->open && e)
        e->torn++;
    j->torn = j->open;
    j->open = false;
    j->used = 0;
}

static bool begin_join(const struct target *t, const uint8_t *part, uint32_t bytes)
{
    struct cairn_join *j = &t->records->join;
    j->address = t->address;
    j->epoch = t->epoch;
    j->piece = t->piece;
    j->open = true;
    return take_part(t, part, bytes);
}

/* A part that is not the first. If one before it is missing, it is of no use. */
static bool continue_join(const struct target *t, const uint8_t *part, uint32_t bytes)
{
    struct cairn_join *j = &t->records->join;
    struct cairn_epoch *e = own_epoch(t->epochs, t->epoch);
    const bool due = j->epoch == t->epoch && j->next == t->address;
    if (j->open && due)
        return take_part(t, part, bytes);
    const bool same = j->open ? j->epoch == t->epoch && t->address < j->end : j->torn && due;
    tear(t->epochs, j);
    if (!same && e)
        e->torn++;
    j->epoch = t->epoch;
    j->next = t->address + bytes;
    j->end = UINT64_MAX;
    j->torn = true;
    return true;
}

void cairn_drains_end(struct cairn_epochs *epochs, struct cairn_records *records)
{
    tear(epochs, &records->join);
    records->join.torn = false;
}

void cairn_records_clear(struct cairn_records *records)
{
    for (size_t i = 0; i < records->joined.count; i++)
        free(records->joined.items[i]);
    records->joined.count = records->count = 0;
}

void cairn_records_free(struct cairn_records *records)
{
    cairn_records_clear(records);
    free(records->items);
    free(records->joined.items);
    free(records->join.bytes);
    *records = (struct cairn_records){0};
}

/* ---- the event ----------------------------------------------------------------------------------------------------
 */

/* Whole records; or one that is too large for an event, as far as it goes. */
static bool index_whole(const struct target *t, const uint8_t *p, uint32_t bytes)
{
    uint32_t whole, records = 0;
    for (uint32_t at = 0, size; at < bytes; at += size, records++) {
        size = cairn_pebs_size(t->format, p + at, bytes - at, &whole);
        if (!size)
            return t->format == DS_FORMAT_ARCH && whole && !at && begin_join(t, p, bytes);
        add_record(t, p + at, t->address + at, size, t->piece);
    }
    count_records(t, bytes, records);
    return true;
}

static bool index_records(struct cairn_epochs *epochs, struct cairn_records *records, const struct cairn_log *log,
                          uint32_t cpu, const struct cairn_event *e, uint32_t piece)
{
    const uint8_t *p = e->payload;
    const uint32_t head = sizeof(struct cairn_ds_records);
    if (e->size < head || cairn_get32(p + offsetof(struct cairn_ds_records, bytes)) != e->size - head)
        return false;
    const struct target t = {
        .epochs = epochs,
        .records = records,
        .log = log,
        .cpu = cpu,
        .address = cairn_get64(p + offsetof(struct cairn_ds_records, address)),
        .time = e->time,
        .epoch = cairn_get32(p + offsetof(struct cairn_ds_records, epoch)),
        .piece = piece,
        .format = p[offsetof(struct cairn_ds_records, format)],
    };
    const bool continues = t.format == DS_FORMAT_ARCH && p[offsetof(struct cairn_ds_records, continues)];
    struct cairn_epoch *own = own_epoch(epochs, t.epoch);
    if (!continues)
        cairn_drains_end(epochs, records);
    const bool good =
        continues ? continue_join(&t, p + head, e->size - head) : index_whole(&t, p + head, e->size - head);
    if (good && own)
        own->events_seen++;
    if (!good)
        tear(epochs, &records->join);
    return good;
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
    return (x->number > y->number) - (x->number < y->number);
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
    g->ended = !log->cpu[cpu].pebs.events;
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
    g->epochs.count = g->events.count = g->used = 0;
    cairn_records_clear(&g->records);
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
    if (!g->has_ahead || cairn_drains_begins(&g->ahead))
        cairn_drains_end(&g->epochs, &g->records);
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
    cairn_records_free(&g->records);
    free(g->bytes);
    free(g->events.items);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

void cairn_lost_add(struct cairn_lost *sum, uint64_t lost)
{
    if (lost == CAIRN_DS_LOST_UNKNOWN)
        sum->unknown = true;
    else
        sum->counted += lost;
}

void cairn_drains_add(struct cairn_drain_sum *sum, const struct cairn_epoch *e, bool passes)
{
    if (sum->throttled && e->reason != CAIRN_DS_RECONFIGURE) { /* which does not end it */
        sum->cycles += e->tsc - sum->since;
        sum->throttled = false;
    }
    if (!passes)
        return;
    sum->drains += e->reason != CAIRN_DS_START;
    sum->empty += e->reason != CAIRN_DS_START && !e->record_bytes;
    sum->missing_bytes += cairn_epoch_missing(e);
    cairn_lost_add(&sum->dropped, e->lost);
    cairn_lost_add(&sum->swallowed, e->swallowed);
    if (e->reason == CAIRN_DS_THROTTLE) {
        sum->throttles++;
        sum->throttled = true;
        sum->since = e->tsc;
    }
}
