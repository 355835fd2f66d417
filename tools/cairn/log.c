/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ds/layout.h"
#include "tools/cairn/bytes.h"

/* ---- events ----------------------------------------------------------------------------------------------------- */

#define MARKER_BITS (PERFINFO_MARKER_MASK | PERFINFO_VERSION_MASK | PERFINFO_ITEM_PEBS_INDEX | PERFINFO_ITEM_PMC_MASK)

bool cairn_event_at(const uint8_t *data, uint32_t size, uint32_t at, struct cairn_event *event)
{
    const uint32_t header = sizeof(struct perfinfo_trace_header);
    if (at >= size || size - at < header)
        return false;
    const uint8_t *p = data + at;
    uint32_t marker = cairn_get32(p), total = cairn_get16(p + 4);
    uint32_t items = (marker & PERFINFO_ITEM_PEBS_INDEX ? 8 : 0) +
                     8 * ((marker & PERFINFO_ITEM_PMC_MASK) >> PERFINFO_ITEM_PMC_SHIFT);
    if ((marker & PERFINFO_MARKER_MASK) != PERFINFO_MARKER64 || (marker & ~MARKER_BITS) || total < header + items ||
        WMI_EVENT_ALIGN(total) > size - at)
        return false;
    event->payload = p + header + items;
    event->size = total - header - items;
    event->space = WMI_EVENT_ALIGN(total);
    event->time = (int64_t)cairn_get64(p + 8);
    event->hook = cairn_get16(p + 6);
    event->version = (uint8_t)(marker & PERFINFO_VERSION_MASK);
    event->has_pebs_index = marker & PERFINFO_ITEM_PEBS_INDEX;
    event->pebs_index = event->has_pebs_index ? cairn_get64(p + header) : 0;
    return true;
}

/* Walks a batch by record sizes; false where it does not end with a record, or a record names what cannot be. */
static bool index_batch(struct cairn_cpu *cpu, const struct cairn_event *e, uint32_t maximum_wait_reason)
{
    const uint8_t *p = e->payload, *end = p + e->size;
    if (e->size < sizeof(struct ccswap_buffer) || e->size > CCSWAP_BATCH_BYTES)
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
    if (e->size != sizeof(struct cairn_ds_epoch))
        return false;
    struct cairn_epoch *n = CAIRN_ADD(cpu->epochs);
    n->payload = p;
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

/* Instruction and time of a record, by its format. */
static void read_record(struct cairn_record *r, const struct cairn_session *session)
{
    bool timed = true;
    if (r->format >= 4) {
        r->ip = cairn_get64(r->at + offsetof(struct ds_pebs_basic, eventing_ip));
        r->tsc = cairn_get64(r->at + offsetof(struct ds_pebs_basic, tsc));
    } else {
        r->ip = cairn_get64(
            r->at + (r->format >= 2 ? offsetof(struct ds_pebs_fmt2, eventing_ip) : offsetof(struct ds_pebs_fmt0, rip)));
        timed = r->format == 3;
        if (timed)
            r->tsc = cairn_get64(r->at + offsetof(struct ds_pebs_fmt3, tsc));
    }
    r->timed = timed && session->known;
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
        read_record(r, session);
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

static bool index_ds(struct cairn_cpu *cpu, const struct cairn_session *session, const struct cairn_event *e,
                     uint32_t piece)
{
    if (e->size < 2 || e->version != HOOK_VERSION_CAIRN_DS)
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

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

static bool index_event(struct cairn_cpu *cpu, const struct cairn_session *session, const struct cairn_event *e,
                        uint32_t piece)
{
    bool good = true;
    switch (e->hook) {
    case HOOK_CONTEXTSWAP_BATCH:
        good = e->version == HOOK_VERSION_CONTEXTSWAP_BATCH && index_batch(cpu, e, session->maximum_wait_reason);
        break;
    case HOOK_CONTEXTSWAP:
        good = e->version == HOOK_VERSION_CONTEXTSWAP && e->size == sizeof(struct wmi_contextswap);
        if (good) {
            cpu->full++;
            cpu->full_bytes += e->space;
        }
        break;
    case HOOK_CAIRN_DS:
        good = index_ds(cpu, session, e, piece);
        break;
    default:
        cpu->other_events++;
    }
    cpu->events += good;
    return good;
}

/* Everything in one piece, up to the first byte that is no event. */
static void index_piece(struct cairn_log *log, struct cairn_cpu *cpu, uint32_t n)
{
    struct cairn_piece *piece = &cpu->pieces[n];
    struct cairn_event e;
    uint32_t at = 0;
    while (cairn_event_at(piece->data, piece->size, at, &e) && index_event(cpu, &log->session, &e, n))
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
        index_piece(log, &log->cpu[cpu], i);
}

static bool add_piece(struct cairn_log *log, const struct cairn_frame *f)
{
    const uint8_t *p = log->frames.arena + f->payload;
    uint32_t head = sizeof(struct cairn_trace_frame), size = f->size;
    if (size < head)
        return false;
    struct cairn_piece piece = {
        .sequence = cairn_get32(p + offsetof(struct cairn_trace_frame, sequence)),
        .buffer = cairn_get32(p + offsetof(struct cairn_trace_frame, cpu_buffer)),
        .cpu = cairn_get16(p + offsetof(struct cairn_trace_frame, cpu)),
        .offset = cairn_get32(p + offsetof(struct cairn_trace_frame, offset)),
        .used = cairn_get32(p + offsetof(struct cairn_trace_frame, used)),
        .frame = f->number,
        .hole = CAIRN_NO_HOLE,
    };
    uint16_t session = cairn_get16(p + offsetof(struct cairn_trace_frame, session));
    if (piece.cpu >= CAIRN_MAX_CPUS || piece.buffer == UINT32_MAX || piece.used > INT32_MAX ||
        piece.offset > piece.used || size - head > piece.used - piece.offset)
        return false;
    if (session != 1) {
        log->other_sessions++;
        return true;
    }
    if (piece.offset == 0) {
        if (size - head < sizeof(struct wmi_buffer_header))
            return false;
        head += sizeof(struct wmi_buffer_header);
        piece.offset = sizeof(struct wmi_buffer_header);
    } else if (piece.offset < sizeof(struct wmi_buffer_header)) {
        return false;
    }
    piece.data = p + head;
    piece.size = size - head;
    *CAIRN_ADD(log->pieces) = piece;
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct cairn_piece *x = a, *y = b;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    if (x->buffer != y->buffer)
        return x->buffer < y->buffer ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* Sorts the pieces and gives each CPU its own; drops those that lie over another. */
static void place_pieces(struct cairn_log *log)
{
    struct cairn_piece *p = log->pieces.items;
    size_t kept = 0;
    if (log->pieces.count)
        qsort(p, log->pieces.count, sizeof(*p), by_place);
    for (size_t i = 0; i < log->pieces.count; i++) {
        const struct cairn_piece *last = kept ? &p[kept - 1] : NULL;
        if (last && last->cpu == p[i].cpu && last->buffer == p[i].buffer &&
            (last->sequence != p[i].sequence || last->used != p[i].used || last->offset + last->size > p[i].offset)) {
            log->bad_frames++;
            continue;
        }
        p[kept++] = p[i];
    }
    log->pieces.count = kept;
    for (size_t i = 0; i < kept; i++) {
        struct cairn_cpu *cpu = &log->cpu[p[i].cpu];
        if (!cpu->piece_count++)
            cpu->pieces = &p[i];
        if (cpu->piece_count == 1 || p[i].buffer != p[i - 1].buffer)
            cpu->buffers++;
        if (p[i].cpu >= log->cpus)
            log->cpus = p[i].cpu + 1u;
    }
}

/* ---- holes ------------------------------------------------------------------------------------------------------ */

const struct cairn_run *cairn_missing_between(const struct cairn_frames *f, uint32_t after, uint32_t before)
{
    size_t low = 0, high = f->missing.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->missing.items[middle].last < after)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->missing.count && f->missing.items[low].first < before ? &f->missing.items[low] : NULL;
}

static uint32_t add_hole(struct cairn_cpu *cpu, struct cairn_hole hole)
{
    *CAIRN_ADD(cpu->holes) = hole;
    return (uint32_t)cpu->holes.count - 1;
}

/* Numbers of the frames just outside the trace stream: what is missing at its ends lies between them and it. */
static void trace_bounds(const struct cairn_frames *f, uint32_t *before, uint32_t *behind)
{
    *before = 0;
    *behind = UINT32_MAX;
    for (size_t i = 0; i < f->frames.count; i++) {
        uint8_t s = f->frames.items[i].stream;
        if (s == CAIRN_STREAM_TRACE)
            continue;
        bool later = s == CAIRN_STREAM_END || s == CAIRN_STREAM_TRUTH || s == CAIRN_STREAM_LAST;
        if (!later)
            *before = f->frames.items[i].number;
        else if (*behind == UINT32_MAX)
            *behind = f->frames.items[i].number;
    }
}

/* The hole between the end of `last` (NULL: the CPU's beginning) and `offset` of `buffer`; CAIRN_NO_HOLE where they
 * join. `after`, `before`: frames between which missing ones belong to it. */
static uint32_t hole_between(struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_piece *last,
                             uint32_t buffer, uint32_t offset, uint32_t after, uint32_t before)
{
    uint64_t next = last ? (uint64_t)last->buffer + 1 : 0; /* first buffer that has not begun */
    uint64_t left = last ? last->used - last->offset - last->size : 0;
    struct cairn_hole hole = {.after = after, .before = before, .buffer = last ? last->buffer : buffer};
    if (last && last->buffer == buffer && offset) {
        if (last->offset + last->size == offset)
            return CAIRN_NO_HOLE;
        hole.kind = CAIRN_HOLE_BYTES;
        hole.malformed = last->malformed;
        hole.bytes = offset - last->offset - last->size;
        return add_hole(cpu, hole);
    }
    uint64_t head = offset > sizeof(struct wmi_buffer_header) ? offset : 0; /* missing from the start of `buffer` */
    if (left == 0 && head == 0 && next == buffer) {
        if (!log->session.circular || !last || (cpu->end.events_known && cpu->end.events[CAIRN_LOST] == 0))
            return CAIRN_NO_HOLE;
        hole.kind = CAIRN_HOLE_MAYBE_LOST; /* while a CPU has no buffer: between two of them */
        return add_hole(cpu, hole);
    }
    if (left == 0 && head == 0) {
        hole.buffer = (uint32_t)next;
        hole.buffers = (uint32_t)(buffer - next);
        bool missing = cairn_missing_between(&log->frames, after, before);
        hole.kind = log->session.circular && !missing ? CAIRN_HOLE_OVERWRITTEN : CAIRN_HOLE_BUFFERS;
        return add_hole(cpu, hole);
    }
    hole.kind = next == buffer || (last && last->buffer == buffer) ? CAIRN_HOLE_BYTES : CAIRN_HOLE_BUFFERS;
    hole.malformed = last && last->malformed;
    hole.bytes = left + head;
    hole.buffers = buffer > next ? (uint32_t)(buffer - next) : 0;
    if (left == 0)
        hole.buffer = (uint32_t)next;
    return add_hole(cpu, hole);
}

static void find_holes(struct cairn_log *log, struct cairn_cpu *cpu, uint32_t before, uint32_t behind)
{
    const struct cairn_piece *last = NULL;
    cpu->tail = CAIRN_NO_HOLE;
    for (size_t i = 0; i < cpu->piece_count; i++) {
        struct cairn_piece *p = &cpu->pieces[i];
        p->hole = hole_between(log, cpu, last, p->buffer, p->offset, last ? last->frame : before, p->frame);
        last = p;
    }
    uint64_t begun = last ? (uint64_t)last->buffer + 1 : 0;
    uint32_t after = last ? last->frame : before;
    if (cpu->end.buffers_known && cpu->end.buffers > begun && cpu->end.buffers <= UINT32_MAX) {
        cpu->tail = hole_between(log, cpu, last, (uint32_t)cpu->end.buffers, 0, after, behind);
    } else if (last && last->offset + last->size != last->used) {
        struct cairn_hole hole = {.kind = CAIRN_HOLE_BYTES,
                                  .malformed = last->malformed,
                                  .buffer = last->buffer,
                                  .bytes = last->used - last->offset - last->size,
                                  .after = after,
                                  .before = behind};
        cpu->tail = add_hole(cpu, hole);
    } else if (cpu->end.events_known && cpu->end.events[CAIRN_LOST] && !log->session.circular) {
        cpu->tail = add_hole(
            cpu,
            (struct cairn_hole){.kind = CAIRN_HOLE_LOST, .buffer = (uint32_t)begun, .after = after, .before = after});
    }
}

/* ---- the truth -------------------------------------------------------------------------------------------------- */

static bool add_truth(struct cairn_log *log, const struct cairn_frame *f)
{
    const uint8_t *p = log->frames.arena + f->payload;
    const uint32_t head = sizeof(struct cairn_truth_frame);
    if (f->size < head)
        return false;
    uint32_t cpu = cairn_get16(p), count = cairn_get16(p + offsetof(struct cairn_truth_frame, count));
    if (cpu >= CAIRN_MAX_CPUS || count * CAIRN_TRUTH_BYTES != f->size - head)
        return false;
    *CAIRN_ADD(log->cpu[cpu].truth) = (struct cairn_truth_part){
        .records = p + head,
        .first = cairn_get32(p + offsetof(struct cairn_truth_frame, first)),
        .count = count,
        .frame = f->number,
    };
    log->has_truth = true;
    if (cpu >= log->cpus)
        log->cpus = cpu + 1;
    return true;
}

static int by_first(const void *a, const void *b)
{
    const struct cairn_truth_part *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static void order_truth(struct cairn_log *log, struct cairn_cpu *cpu)
{
    size_t kept = 0;
    if (!cpu->truth.count)
        return;
    qsort(cpu->truth.items, cpu->truth.count, sizeof(*cpu->truth.items), by_first);
    for (size_t i = 0; i < cpu->truth.count; i++) {
        const struct cairn_truth_part *last = kept ? &cpu->truth.items[kept - 1] : NULL;
        if (last && (uint64_t)last->first + last->count > cpu->truth.items[i].first) {
            log->bad_frames++;
            continue;
        }
        cpu->truth.items[kept++] = cpu->truth.items[i];
    }
    cpu->truth.count = kept;
}

/* ---- session and end -------------------------------------------------------------------------------------------- */

static bool number_of(const struct cairn_log *log, const char *key, uint64_t *value)
{
    return cairn_slice_u64(cairn_key(&log->text, "session.1.%s", key), value);
}

static void read_session(struct cairn_log *log)
{
    struct cairn_session *s = &log->session;
    struct cairn_slice events = cairn_key(&log->text, "session.1.events");
    uint64_t v;
    s->maximum_wait_reason = CCSWAP_MAXIMUM_WAIT_REASON;
    s->pebs = -1;
    s->compact = cairn_slice_is(events, "compact") || cairn_slice_is(events, "compact+full");
    s->full = cairn_slice_is(events, "full") || cairn_slice_is(events, "compact+full");
    s->circular = cairn_slice_is(cairn_key(&log->text, "session.1.mode"), "circular");
    s->known = number_of(log, "tsc_hz", &s->clock.tsc_hz) && number_of(log, "tsc_base", &s->clock.base) &&
               number_of(log, "multiplier", &s->clock.multiplier) && s->clock.multiplier;
    if (number_of(log, "maximum_wait_reason", &v) && v <= CCSWAP_MASK(CCSWAP_STATE_BITS))
        s->maximum_wait_reason = (uint32_t)v;
    if (number_of(log, "pebs", &v))
        s->pebs = v != 0;
    if (s->known && (s->start_known = number_of(log, "start_tsc", &v)))
        s->start = trace_clock_units(&s->clock, v);
    if (s->known && (s->stop_known = number_of(log, "stop_tsc", &v)))
        s->stop = trace_clock_units(&s->clock, v);
    number_of(log, "buffer_bytes", &s->buffer_bytes);
    number_of(log, "tick_units", &s->tick_units);
    if (number_of(log, "cpus", &v) && v <= CAIRN_MAX_CPUS)
        log->cpus = (uint32_t)v;
}

static void read_cpu_end(const struct cairn_text *t, uint32_t n, struct cairn_cpu_end *e)
{
#define NUMBERS(key, field, count)                                                                                     \
    e->field##_known = cairn_slice_numbers(cairn_key(t, "end.cpu.%u." key, n), e->field, count)
    NUMBERS("events", events, 3);
    NUMBERS("switches", switches, 3);
    NUMBERS("compact", compact, 3);
    NUMBERS("full", full, 3);
    NUMBERS("batches", batches, CCSWAP_CLOSE_REASONS);
    NUMBERS("truth", truth, 3);
    e->buffers_known = cairn_slice_u64(cairn_key(t, "end.cpu.%u.buffers", n), &e->buffers);
    struct cairn_slice ds = cairn_key(t, "end.cpu.%u.ds", n);
    e->ds_known =
        cairn_slice_number(&ds, &e->ds[0]) && cairn_slice_number(&ds, &e->ds[1]) && cairn_slice_number(&ds, &e->ds[2]);
    e->ds_lost_known = e->ds_known && cairn_slice_numbers(ds, &e->ds[3], 2);
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct cairn_record *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static void order_records(struct cairn_cpu *cpu)
{
    for (size_t i = 1; i < cpu->records.count; i++)
        if (cpu->records.items[i].time < cpu->records.items[i - 1].time) {
            qsort(cpu->records.items, cpu->records.count, sizeof(*cpu->records.items), by_time);
            return;
        }
}

int cairn_log_read(struct cairn_log *log, const char *data, size_t size, uint32_t dump,
                   void (*progress)(uint64_t done, uint64_t all))
{
    memset(log, 0, sizeof(*log));
    cairn_deframe(&log->frames, data, size, dump, progress);
    if (!log->frames.frames.count || (dump && log->frames.dump != dump)) {
        cairn_frames_free(&log->frames);
        return -ENOENT;
    }
    cairn_text_read(&log->text, &log->frames);
    read_session(log);
    for (size_t i = 0; i < log->frames.frames.count; i++) {
        const struct cairn_frame *f = &log->frames.frames.items[i];
        bool good = f->stream == CAIRN_STREAM_TRACE   ? add_piece(log, f)
                    : f->stream == CAIRN_STREAM_TRUTH ? add_truth(log, f)
                                                      : true;
        log->bad_frames += !good;
        log->has_end |= f->stream == CAIRN_STREAM_END;
    }
    log->bad_frames += log->text.malformed;
    place_pieces(log);
    uint32_t before, behind;
    trace_bounds(&log->frames, &before, &behind);
    for (uint32_t c = 0; c < log->cpus; c++) {
        struct cairn_cpu *cpu = &log->cpu[c];
        read_cpu_end(&log->text, c, &cpu->end);
        cairn_log_index(log, c);
        find_holes(log, cpu, before, behind);
        order_truth(log, cpu);
        order_records(cpu);
    }
    return 0;
}

void cairn_log_free(struct cairn_log *log)
{
    for (uint32_t c = 0; c < CAIRN_MAX_CPUS; c++) {
        free(log->cpu[c].holes.items);
        free(log->cpu[c].records.items);
        free(log->cpu[c].epochs.items);
        free(log->cpu[c].truth.items);
    }
    free(log->pieces.items);
    cairn_text_free(&log->text);
    cairn_frames_free(&log->frames);
    memset(log, 0, sizeof(*log));
}

bool cairn_log_damaged(const struct cairn_log *log)
{
    return log->frames.missing.count || !log->frames.total_known || log->frames.totals_differ || log->bad_frames ||
           log->bad_pieces;
}
