/* SPDX-License-Identifier: MIT */
/* Events where they lie: finds them, checks them once, counts them, and notes where the Debug Store's are. */
#include <string.h>

#include "ds/layout.h"
#include "tools/cairn/bts.h"
#include "tools/cairn/bytes.h"
#include "tools/cairn/etl_layout.h"
#include "tools/cairn/life.h"
#include "tools/cairn/live.h"
#include "tools/cairn/locks.h"
#include "tools/cairn/log.h"
#include "tools/cairn/pebs.h"
#include "tools/cairn/stretch.h"

/* ---- context switches -------------------------------------------------------------------------------------------- */

/* Walks a batch by record sizes; false where it does not end with a record, or a record names what cannot be. */
static bool index_batch(struct cairn_cpu *cpu, const struct cairn_event *e, uint32_t maximum_wait_reason)
{
    const uint8_t *p = e->payload, *end = p + e->size;
    if (e->size < sizeof(struct ccswap_buffer))
        return false;
    uint64_t forms[CCSWAP_FULL + 1] = {0};
    const uint8_t *tids = p + offsetof(struct ccswap_buffer, tid_table);
    for (p += sizeof(struct ccswap_buffer); p < end;) {
        unsigned type = *p & CCSWAP_TYPE_MASK, bytes = ccswap_record_bytes(*p);
        if ((size_t)(end - p) < bytes)
            return false;
        if (type >= CCSWAP_LITE) {
            uint32_t low = cairn_get32(p), high = type == CCSWAP_FULL ? cairn_get32(p + 4) : 0;
            uint32_t slot = (type == CCSWAP_LITE ? low >> CCSWAP_LITE_TID_SHIFT : high) & CCSWAP_MASK(CCSWAP_TID_BITS);
            uint32_t state = (type == CCSWAP_LITE ? low >> CCSWAP_LITE_STATE_SHIFT : high >> CCSWAP_FULL_STATE_SHIFT) &
                             CCSWAP_MASK(CCSWAP_STATE_BITS);
            if (!cairn_get32(tids + 4 * slot) || state >= maximum_wait_reason + KTHREAD_STATES)
                return false;
        }
        forms[type]++;
        p += bytes;
    }
    for (unsigned i = 0; i <= CCSWAP_FULL; i++) {
        cpu->forms[i] += forms[i];
        cpu->compact += forms[i];
    }
    cpu->batches++;
    cpu->compact_bytes += e->space;
    return true;
}

/* ---- Debug Store events ----------------------------------------------------------------------------------------- */

static bool index_epoch(struct cairn_cpu *cpu, const struct cairn_event *e, uint32_t piece)
{
    const uint8_t *p = e->payload;
    if (e->size < sizeof(struct cairn_ds_epoch))
        return false;
    uint32_t bytes = e->size - (uint32_t)sizeof(struct cairn_ds_epoch);
    uint8_t format = p[offsetof(struct cairn_ds_epoch, format)];
    if (e->version == 1 ? bytes != CAIRN_DS_AREA_BYTES_1
                        : bytes != ds_area_bytes(format, false) && bytes != ds_area_bytes(format, true))
        return false;
    struct cairn_epoch *n = CAIRN_ADD(cpu->epochs);
    n->area = p + sizeof(struct cairn_ds_epoch);
    n->area_bytes = bytes;
    n->time = e->time;
    n->reason = p[offsetof(struct cairn_ds_epoch, reason)];
    n->format = format;
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

static bool index_records(struct cairn_cpu *cpu, const struct cairn_session *session, const struct cairn_event *e,
                          uint32_t piece)
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
        struct cairn_record *r = CAIRN_ADD(cpu->records);
        r->at = p + head + at;
        r->address = address + at;
        r->size = size;
        r->format = format;
        r->epoch = epoch;
        r->piece = piece;
        r->time = e->time;
        read_record(r, session, cpu->fault_like);
        at += size;
        count++;
    }
    if (cpu->epochs.count) {
        struct cairn_epoch *last = &cpu->epochs.items[cpu->epochs.count - 1];
        if (last->number == epoch) {
            last->bytes_seen += bytes;
            last->events_seen++;
            last->records += count;
        }
    }
    return true;
}

static bool index_swallowed(struct cairn_cpu *cpu, const struct cairn_event *e)
{
    struct cairn_ds_swallowed s;
    if (e->size != sizeof(s) || e->version != HOOK_VERSION_CAIRN_SWALLOWED)
        return false;
    memcpy(&s, e->payload, sizeof(s));
    struct cairn_epoch *last = cpu->epochs.count ? &cpu->epochs.items[cpu->epochs.count - 1] : NULL;
    if (last && last->number == s.epoch) /* else its epoch is missing */
        last->swallowed = s.samples;
    return true;
}

static bool index_ds(struct cairn_cpu *cpu, const struct cairn_session *session, const struct cairn_event *e,
                     uint32_t piece)
{
    if (e->size < 2 || e->version < 1 || e->version > HOOK_VERSION_CAIRN_DS)
        return false;
    switch (cairn_get16(e->payload)) {
    case CAIRN_DS_EPOCH:
        return index_epoch(cpu, e, piece);
    case CAIRN_DS_RECORDS:
        return index_records(cpu, session, e, piece);
    default:
        return false;
    }
}

/* ---- sessions that come and go ---------------------------------------------------------------------------------- */

static bool index_ack(const struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_event *e, uint32_t piece)
{
    struct cairn_ack a = {.payload = e->payload, .time = e->time, .piece = piece};
    if (e->version != HOOK_VERSION_CAIRN_SESSION || e->size != sizeof(a.event))
        return false;
    memcpy(&a.event, e->payload, sizeof(a.event));
    if (a.event.what < CAIRN_SESSION_START || a.event.what > CAIRN_SESSION_MASKS || a.event.session < 1 ||
        a.event.session > TRACE_MAX_SESSIONS)
        return false;
    a.own = a.event.session == log->number;
    if (a.own)
        cairn_stretch_begin(cpu, &a);
    *CAIRN_ADD(cpu->acks) = a;
    return true;
}

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

/* What this kernel writes, to the byte. Windows' own events come in more versions and headers. */
static bool own_form(const struct cairn_event *e)
{
    if (e->space % 8 || e->unknown_items || (e->header != ETL_PERFINFO64 && e->header != ETL_SYSTEM64))
        return false;
    if (e->hook == HOOK_CONTEXTSWAP_BATCH)
        return e->version == HOOK_VERSION_CONTEXTSWAP_BATCH && e->size <= CCSWAP_BATCH_BYTES;
    return e->hook != HOOK_CONTEXTSWAP ||
           (e->version == HOOK_VERSION_CONTEXTSWAP && e->size == sizeof(struct wmi_contextswap));
}

bool cairn_log_index_event(struct cairn_log *log, uint32_t n, const struct cairn_event *e, uint32_t piece)
{
    struct cairn_cpu *cpu = &log->cpu[n];
    const struct cairn_session *session = &log->session;
    bool good = true, known;
    if (!log->etl && !own_form(e))
        return false;
    switch (cairn_event_decoded(e) ? e->hook : CAIRN_NO_HOOK) {
    case HOOK_CONTEXTSWAP_BATCH:
        good = index_batch(cpu, e, session->maximum_wait_reason);
        break;
    case HOOK_CONTEXTSWAP:
        good = e->size >= sizeof(struct wmi_contextswap);
        if (good) {
            cpu->full++;
            cpu->full_bytes += e->space;
        }
        break;
    case HOOK_CAIRN_BTS:
        good = cairn_bts_index(cpu, e, piece);
        break;
    case HOOK_CAIRN_MODEL:
        good = cairn_logged_index(cpu, session, e);
        break;
    case HOOK_CAIRN_DS:
        good = index_ds(cpu, session, e, piece);
        break;
    case HOOK_CAIRN_SWALLOWED:
        good = index_swallowed(cpu, e);
        break;
    case HOOK_CAIRN_SESSION:
        good = index_ack(log, cpu, e, piece);
        break;
    case HOOK_CAIRN_STREAM: /* read before (etl_log.c) */
        break;
    default:
        good = cairn_live_index(cpu, e, piece, &known);
        if (good && !known)
            good = cairn_locks_index(cpu, e, piece, &known);
        if (good && !known && !log->etl)
            good = cairn_told_index(cpu, e);
        good |= log->etl != NULL; /* of Windows, there may be other forms */
        cpu->other_events += good && !known;
    }
    cpu->events += good;
    cpu->with_items += good && e->counters;
    return good;
}

/* Everything in one piece, up to the first byte that is no event. */
static void index_piece(struct cairn_log *log, uint32_t c, uint32_t n)
{
    struct cairn_piece *piece = &log->cpu[c].pieces[n];
    struct cairn_event e;
    uint32_t at = 0;
    while (cairn_event_at(piece->data, piece->size, at, &e) && cairn_log_index_event(log, c, &e, n))
        at += e.space;
    if (at != piece->size) {
        piece->size = at;
        piece->malformed = true;
        log->bad_pieces++;
    }
}

void cairn_log_index(struct cairn_log *log, uint32_t cpu)
{
    for (uint32_t i = 0; i < log->cpu[cpu].piece_count; i++)
        index_piece(log, cpu, i);
}
