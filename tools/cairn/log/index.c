/* SPDX-License-Identifier: MIT */
/* Finds the events, checks each once, counts them, and lists the kinds that are needed by themselves. */
#include <stdlib.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/event/etl_layout.h"
#include "tools/cairn/log/activity.h"
#include "tools/cairn/log/bts.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/log/locks.h"
#include "tools/cairn/log/log.h"
#include "tools/cairn/log/model_log.h"
#include "tools/cairn/log/stream.h"
#include "tools/cairn/log/told.h"
#include "trace/wire/bts.h"
#include "trace/wire/model_log.h"

/* ---- context switches -------------------------------------------------------------------------------------------- */

static void add_batches(struct cairn_cpu *cpu, const struct cairn_batch_counts *batches, uint32_t bytes)
{
    for (unsigned i = 0; i <= CCSWAP_FULL; i++) {
        cpu->switches.forms[i] += cairn_batch_counts_form(batches, i);
        cpu->switches.compact += cairn_batch_counts_form(batches, i);
    }
    cpu->switches.batches += batches->count;
    cpu->switches.compact_bytes += bytes;
}

/* Whether their records name no state that cannot be. */
static bool has_states(const struct cairn_log *log, const struct cairn_batch_counts *batches)
{
    return batches->states <= log->session.maximum_wait_reason + KTHREAD_STATES;
}

static bool index_batch(const struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_event *e)
{
    struct cairn_batch_counts batch = {0};
    if (!cairn_batch_count(&batch, e) || !has_states(log, &batch))
        return false;
    add_batches(cpu, &batch, e->space);
    return true;
}

/* ---- Debug Store events ----------------------------------------------------------------------------------------- */

/* What the drain that came last tells, now that all that belongs to it has come. */
static void end_drain(struct cairn_cpu *cpu)
{
    const struct cairn_epoch *e =
        cpu->indexing.epochs.count ? &cpu->indexing.epochs.items[cpu->indexing.epochs.count - 1] : NULL;
    cairn_drains_end(&cpu->indexing.epochs, &cpu->indexing.records);
    if (!e)
        return;
    if (e->format == DS_FORMAT_ARCH && !cpu->pebs.base)
        cpu->pebs.base = e->base;
    cpu->pebs.epochs++;
    cairn_drains_add(&cpu->pebs.drains, e, true);
}

static bool index_drains(struct cairn_log *log, uint32_t n, const struct cairn_event *e, uint32_t piece)
{
    struct cairn_cpu *cpu = &log->cpu[n];
    cpu->pebs.events++;
    if (cairn_drains_begins(e)) {
        end_drain(cpu);
        cpu->indexing.epochs.count = 0; /* the last one is all that is needed */
    }
    const bool good = cairn_drains_index(&cpu->indexing.epochs, &cpu->indexing.records, log, n, e, piece);
    cpu->pebs.records += cpu->indexing.records.count;
    cairn_records_clear(&cpu->indexing.records); /* their number is, however many come without a drain */
    return good;
}

/* ---- sessions that come and go ---------------------------------------------------------------------------------- */

static bool index_ack(const struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_event *e, uint32_t piece,
                      bool first)
{
    struct cairn_ack a = {.time = e->time, .piece = piece, .first = first};
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

bool cairn_log_index_event(struct cairn_log *log, uint32_t n, const struct cairn_event *e, uint32_t piece)
{
    struct cairn_cpu *cpu = &log->cpu[n];
    bool good = true, known;
    if (!log->etl && !cairn_event_own(e))
        return false;
    switch (cairn_event_decoded(e) ? e->hook : CAIRN_NO_HOOK) {
    case HOOK_CONTEXTSWAP_BATCH:
        good = index_batch(log, cpu, e);
        break;
    case HOOK_CONTEXTSWAP:
        good = !cairn_event_short(e);
        if (good) {
            cpu->switches.full++;
            cpu->switches.full_bytes += e->space;
        }
        break;
    case HOOK_CAIRN_BTS:
        good = cairn_bts_index(cpu, e);
        break;
    case HOOK_CAIRN_MODEL:
        good = cairn_logged_index(log, cpu, e);
        break;
    case HOOK_CAIRN_DS:
    case HOOK_CAIRN_SWALLOWED:
        good = index_drains(log, n, e, piece);
        break;
    case HOOK_CAIRN_SESSION:
        good = index_ack(log, cpu, e, piece,
                         cpu->indexing.piece_begins && e->head == sizeof(struct perfinfo_trace_header));
        break;
    case HOOK_CAIRN_STREAM: /* read before (etl/log.c) */
        break;
    default:
        good = cairn_live_index(log, cpu, e, piece, &known);
        if (good && !known)
            good = cairn_locks_index(cpu, e, piece, &known);
        if (good && !known && !log->etl)
            good = cairn_told_index(log, cpu, e);
        good |= log->etl != NULL; /* of Windows, there may be other forms */
        cpu->other_events += good && !known;
        cpu->undecoded += good;
    }
    cpu->events += good;
    cpu->with_items += good && e->counters;
    return good;
}

/* Events of one frame: up to the first byte that is none, whose place is returned. */
static uint32_t index_frame(struct cairn_log *log, uint32_t c, const uint8_t *p, uint32_t size)
{
    const uint32_t piece = (uint32_t)log->cpu[c].piece_count - 1;
    struct cairn_event e;
    uint32_t at = 0;
    for (; cairn_event_at(p, size, at, &e) && cairn_log_index_event(log, c, &e, piece); at += e.space)
        log->cpu[c].indexing.piece_begins = false;
    return at;
}

/* The frames of one chain, unless all that is to be counted of them is known. They become pieces of the CPU: one, or
 * where some hold what is no event, more. */
static void index_chain(struct cairn_log *log, uint32_t c, struct cairn_links *links, const struct cairn_piece *whole)
{
    const struct cairn_chain chain = cairn_piece_chain(whole);
    struct cairn_cpu *cpu = &log->cpu[c];
    struct cairn_frame frame;
    uint8_t payload[CAIRN_PAYLOAD_MOST];
    struct cairn_piece *piece = NULL;
    uint32_t offset = whole->offset, end = whole->offset + whole->size;
    if (whole->batches.alone && has_states(log, &whole->batches)) {
        *cairn_add_piece(cpu) = *whole;
        cpu->indexing.piece_begins = !whole->batches.count;
        cpu->events += whole->batches.count;
        add_batches(cpu, &whole->batches, whole->size);
        return;
    }
    cairn_links_begin(links, &chain);
    while (cairn_links_next(links, &frame, payload)) {
        const bool begins = whole->header && frame.number == whole->frame;
        const uint32_t head = begins ? sizeof(struct wmi_buffer_header) : 0;
        const uint8_t *p = frame.payload + sizeof(struct cairn_trace_frame);
        if (frame.size < sizeof(struct cairn_trace_frame) + head)
            break;
        uint32_t size = frame.size - (uint32_t)sizeof(struct cairn_trace_frame) - head;
        if (size > end - offset) /* it is not the file it was */
            break;
        if (!piece) {
            piece = cairn_add_piece(cpu);
            *piece = *whole;
            piece->at = frame.at;
            piece->frame = frame.number;
            piece->offset = offset;
            piece->size = piece->frames = 0;
            piece->crc = whole->crc + (frame.number - whole->frame);
            piece->header = begins;
            piece->lost_before = begins && whole->lost_before;
            cpu->indexing.piece_begins = true;
        }
        uint32_t used = index_frame(log, c, p + head, size);
        piece->frames++;
        piece->size += used;
        offset += size;
        if (used != size) {
            piece->malformed = true;
            cpu->bad_pieces++;
            piece = NULL;
        }
    }
}

void cairn_log_index(struct cairn_log *log, uint32_t c)
{
    struct cairn_cpu *cpu = &log->cpu[c];
    struct cairn_piece *chains = cpu->pieces;
    const size_t count = cpu->piece_count;
    struct cairn_links links;
    cpu->pieces = NULL;
    cpu->piece_count = cpu->piece_room = 0;
    cairn_links_init(&links, &log->frames);
    for (size_t i = 0; i < count; i++)
        index_chain(log, c, &links, &chains[i]);
    free(chains);
    cairn_log_index_end(log, c);
}

void cairn_log_index_end(struct cairn_log *log, uint32_t c)
{
    struct cairn_cpu *cpu = &log->cpu[c];
    end_drain(cpu);
    cpu->indexing.epochs.count = 0;
}
