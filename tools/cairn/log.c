/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/layout.h"
#include "tools/cairn/bytes.h"
#include "tools/cairn/etl.h"
#include "tools/cairn/stops.h"
#include "tools/cairn/stretch.h"

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

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
    if (session < 1 || session > TRACE_MAX_SESSIONS) {
        log->other_sessions++;
        return true;
    }
    if (session != log->number)
        return true;
    if (piece.offset == 0) {
        if (size - head < sizeof(struct wmi_buffer_header))
            return false;
        uint16_t flag = cairn_get16(p + head + offsetof(struct wmi_buffer_header, buffer_flag));
        piece.lost_before = flag & WMI_BUFFER_FLAG_BUFFER_LOST;
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
    bool trace = false;
    for (size_t i = 0; i < f->frames.count; i++) {
        uint8_t s = f->frames.items[i].stream;
        bool later = s == CAIRN_STREAM_END || s == CAIRN_STREAM_TRUTH || s == CAIRN_STREAM_LAST;
        trace |= s == CAIRN_STREAM_TRACE;
        if (!trace && !later) /* in a live dump some come between its frames */
            *before = f->frames.items[i].number;
        if (later && *behind == UINT32_MAX)
            *behind = f->frames.items[i].number;
    }
}

/* The hole between the end of `last` (NULL: the CPU's beginning) and `offset` of `buffer`, where piece `begins` lies
 * (NULL: the CPU's end); CAIRN_NO_HOLE where they join. `after`, `before`: frames between which missing ones belong to
 * it. */
static uint32_t hole_between(struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_piece *last,
                             const struct cairn_piece *begins, uint32_t buffer, uint32_t offset, uint32_t after,
                             uint32_t before)
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
    if (left == 0 && head == 0 && next == buffer && begins && begins->lost_before) {
        hole.kind = CAIRN_HOLE_LOST_HERE;
        return add_hole(cpu, hole);
    }
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
        p->hole = hole_between(log, cpu, last, p, p->buffer, p->offset, last ? last->frame : before, p->frame);
        last = p;
    }
    uint64_t begun = last ? (uint64_t)last->buffer + 1 : 0;
    uint32_t after = last ? last->frame : before;
    if (cpu->end.buffers_known && cpu->end.buffers > begun && cpu->end.buffers <= UINT32_MAX) {
        cpu->tail = hole_between(log, cpu, last, NULL, (uint32_t)cpu->end.buffers, 0, after, behind);
    } else if (last && last->offset + last->size != last->used) {
        struct cairn_hole hole = {.kind = CAIRN_HOLE_BYTES,
                                  .malformed = last->malformed,
                                  .buffer = last->buffer,
                                  .bytes = last->used - last->offset - last->size,
                                  .after = after,
                                  .before = behind};
        cpu->tail = add_hole(cpu, hole);
    } else if (cpu->end.events_known && cpu->end.events[CAIRN_LOST] && (!log->session.circular || log->panic)) {
        /* A panic loses what a CPU was writing as it was stopped, whatever the mode. */
        struct cairn_hole hole = {.kind = log->panic || log->session.live ? CAIRN_HOLE_MAYBE_LOST : CAIRN_HOLE_LOST,
                                  .buffer = (uint32_t)begun,
                                  .after = after,
                                  .before = after};
        cpu->tail = add_hole(cpu, hole);
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

struct cairn_slice cairn_session_key(const struct cairn_log *log, const char *key)
{
    return cairn_key(&log->text, "session.%" PRIu32 ".%s", log->number, key);
}

static bool number_of(const struct cairn_log *log, const char *key, uint64_t *value)
{
    return cairn_slice_u64(cairn_session_key(log, key), value);
}

/* A log of a kernel with one clock says nothing of its type. */
static bool read_clock(const struct cairn_log *log, struct trace_clock *clock)
{
    uint64_t type = TRACE_CLOCK_QPC, origin = 0;
    number_of(log, "clock", &type);
    number_of(log, "origin", &origin);
    clock->type = (uint32_t)type;
    clock->origin = (int64_t)origin;
    return number_of(log, "tsc_hz", &clock->tsc_hz) && number_of(log, "tsc_base", &clock->base) &&
           number_of(log, "multiplier", &clock->multiplier) && clock->multiplier && clock->multiplier <= INT64_MAX &&
           type >= TRACE_CLOCK_QPC && type <= TRACE_CLOCK_TSC && origin <= INT64_MAX / 2 && clock->tsc_hz;
}

static void read_session(struct cairn_log *log)
{
    struct cairn_session *s = &log->session;
    struct cairn_slice events = cairn_session_key(log, "events");
    uint64_t v;
    *s = (struct cairn_session){.hz = TRACE_CLOCK_HZ, .maximum_wait_reason = CCSWAP_MAXIMUM_WAIT_REASON, .pebs = -1};
    s->compact = cairn_slice_is(events, "compact") || cairn_slice_is(events, "compact+full");
    s->full = cairn_slice_is(events, "full") || cairn_slice_is(events, "compact+full");
    s->none = cairn_slice_is(events, "none");
    s->circular = cairn_slice_is(cairn_session_key(log, "mode"), "circular");
    s->live = cairn_slice_is(cairn_session_key(log, "dump"), "live");
    s->lives = cairn_session_key(log, "masks").size != 0;
    s->known = read_clock(log, &s->clock);
    if (number_of(log, "maximum_wait_reason", &v) && v <= CCSWAP_MASK(CCSWAP_STATE_BITS))
        s->maximum_wait_reason = (uint32_t)v;
    if (number_of(log, "pebs", &v))
        s->pebs = v != 0;
    if (s->known && (s->start_known = number_of(log, "start_tsc", &v)))
        s->start = trace_clock_units(&s->clock, v);
    if (s->known && (s->stop_known = number_of(log, "stop_tsc", &v)))
        s->stop = trace_clock_units(&s->clock, v);
    if (number_of(log, "clock_hz", &v) && v)
        s->hz = v;
    number_of(log, "buffer_bytes", &s->buffer_bytes);
    number_of(log, "tick_units", &s->tick_units);
    if (number_of(log, "cpus", &v) && v <= CAIRN_MAX_CPUS)
        log->cpus = (uint32_t)v;
}

struct cairn_slice cairn_end_key(const struct cairn_log *log, const char *what)
{
    return log->number == 1 ? cairn_key(&log->text, "end.%s", what)
                            : cairn_key(&log->text, "end.session.%" PRIu32 ".%s", log->number, what);
}

static struct cairn_slice cpu_key(const struct cairn_log *log, uint32_t n, const char *what)
{
    char key[32];
    snprintf(key, sizeof(key), "cpu.%" PRIu32 ".%s", n, what);
    return cairn_end_key(log, key);
}

static void read_cpu_end(const struct cairn_log *log, uint32_t n, struct cairn_cpu_end *e)
{
    const struct cairn_text *t = &log->text;
#define NUMBERS(key, field, count) e->field##_known = cairn_slice_numbers(cpu_key(log, n, key), e->field, count)
    NUMBERS("events", events, 3);
    NUMBERS("switches", switches, 3);
    NUMBERS("compact", compact, 3);
    NUMBERS("full", full, 3);
    NUMBERS("batches", batches, CCSWAP_CLOSE_REASONS);
    e->buffers_known = cairn_slice_u64(cpu_key(log, n, "buffers"), &e->buffers);
    e->lives_known = cairn_slice_u64(cpu_key(log, n, "lives"), &e->lives);
    /* What is not a session's. */
    e->truth_known = cairn_slice_numbers(cairn_key(t, "end.cpu.%" PRIu32 ".truth", n), e->truth, 3);
    e->locks_known = cairn_slice_numbers(cairn_key(t, "end.cpu.%" PRIu32 ".locks", n), e->locks, 5);
    struct cairn_slice ds = cairn_key(t, "end.cpu.%" PRIu32 ".ds", n);
    e->ds_known =
        cairn_slice_number(&ds, &e->ds[0]) && cairn_slice_number(&ds, &e->ds[1]) && cairn_slice_number(&ds, &e->ds[2]);
    e->ds_lost_known = e->ds_known && cairn_slice_numbers(ds, &e->ds[3], 2);
    e->swallowed_known = cairn_slice_u64(cairn_key(t, "end.cpu.%" PRIu32 ".swallowed", n), &e->swallowed);
    struct cairn_slice bts = cairn_key(t, "end.cpu.%" PRIu32 ".bts", n);
    e->bts_known = cairn_slice_number(&bts, &e->bts[0]) && cairn_slice_number(&bts, &e->bts[1]);
    e->bts_lost_known = e->bts_known && cairn_slice_u64(bts, &e->bts[2]);
    e->log_known = cairn_slice_u64(cairn_key(t, "end.cpu.%" PRIu32 ".log", n), &e->log);
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

/* IA32_PERF_CAPABILITIES.PEBS_TRAP as this CPU said. The model's is set, and so was that of every processor so old that
 * it has no such register. */
static bool fault_like(const struct cairn_log *log, uint32_t cpu)
{
    uint64_t capabilities;
    return !cairn_log_modelled(log) &&
           cairn_slice_u64(cairn_key(&log->text, "cpu.%" PRIu32 ".msr.%X", cpu, IA32_PERF_CAPABILITIES),
                           &capabilities) &&
           !(capabilities & IA32_PERF_CAPABILITIES_PEBS_TRAP);
}

/* Sessions of which there is a key or a frame. */
static uint32_t find_sessions(const struct cairn_log *log)
{
    uint32_t found = 0;
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++)
        if (cairn_has_key(&log->text, "session.%" PRIu32 ".events", number))
            found |= 1u << (number - 1);
    for (size_t i = 0; i < log->frames.frames.count; i++) {
        const struct cairn_frame *f = &log->frames.frames.items[i];
        if (f->stream != CAIRN_STREAM_TRACE || f->size < sizeof(struct cairn_trace_frame))
            continue;
        uint16_t session = cairn_get16(log->frames.arena + f->payload + offsetof(struct cairn_trace_frame, session));
        if (session >= 1 && session <= TRACE_MAX_SESSIONS)
            found |= 1u << (session - 1);
    }
    return found;
}

static void free_session(struct cairn_log *log)
{
    for (uint32_t c = 0; c < CAIRN_MAX_CPUS; c++) {
        free(log->cpu[c].holes.items);
        free(log->cpu[c].records.items);
        free(log->cpu[c].epochs.items);
        free(log->cpu[c].bts_drains.items);
        free(log->cpu[c].bts_parts.items);
        free(log->cpu[c].logged.items);
        free(log->cpu[c].live.items);
        free(log->cpu[c].locks.items);
        free(log->cpu[c].lock_configs.items);
        free(log->cpu[c].truth.items);
        free(log->cpu[c].acks.items);
        free(log->cpu[c].told.items);
    }
    free(log->pieces.items);
    memset(log->cpu, 0, sizeof(log->cpu));
    memset(&log->pieces, 0, sizeof(log->pieces));
    log->cpus = log->bad_frames = log->bad_pieces = log->other_sessions = 0;
    log->has_end = log->has_truth = false;
}

static void read_streams(struct cairn_log *log)
{
    read_session(log);
    if (log->wait_reasons)
        log->session.maximum_wait_reason = log->wait_reasons;
    for (size_t i = 0; i < log->frames.frames.count; i++) {
        const struct cairn_frame *f = &log->frames.frames.items[i];
        log->bad_frames += f->stream == CAIRN_STREAM_TRUTH && !add_truth(log, f);
        log->has_end |= f->stream == CAIRN_STREAM_END;
    }
    log->bad_frames += log->text.malformed;
    log->panic = cairn_slice_is(cairn_key(&log->text, "dump.cause"), "panic");
}

void cairn_log_cpu(struct cairn_log *log, uint32_t cpu)
{
    read_cpu_end(log, cpu, &log->cpu[cpu].end);
    log->cpu[cpu].fault_like = fault_like(log, cpu);
}

void cairn_log_order(struct cairn_log *log, uint32_t cpu)
{
    order_truth(log, &log->cpu[cpu]);
    order_records(&log->cpu[cpu]);
}

void cairn_log_streams(struct cairn_log *log)
{
    uint64_t number;
    cairn_text_read(&log->text, &log->frames);
    bool told = cairn_slice_u64(cairn_key(&log->text, "export.session"), &number) && number >= 1 &&
                number <= TRACE_MAX_SESSIONS;
    log->number = told ? (uint32_t)number : 1;
    log->sessions = 1u << (log->number - 1);
    read_streams(log);
}

void cairn_log_select(struct cairn_log *log, uint32_t number)
{
    free_session(log);
    log->number = number;
    read_streams(log);
    for (size_t i = 0; i < log->frames.frames.count; i++) {
        const struct cairn_frame *f = &log->frames.frames.items[i];
        log->bad_frames += f->stream == CAIRN_STREAM_TRACE && !add_piece(log, f);
    }
    place_pieces(log);
    uint32_t before, behind;
    trace_bounds(&log->frames, &before, &behind);
    for (uint32_t c = 0; c < log->cpus; c++) {
        cairn_log_cpu(log, c);
        cairn_log_index(log, c);
        find_holes(log, &log->cpu[c], before, behind);
        cairn_stops_find(&log->cpu[c]);
        cairn_log_order(log, c);
    }
    cairn_told_names(log);
}

int cairn_log_read(struct cairn_log *log, const char *data, size_t size, const struct cairn_choice *choice,
                   char refusal[CAIRN_REFUSAL])
{
    memset(log, 0, sizeof(*log));
    log->wait_reasons = choice->maximum_wait_reason;
    if (cairn_etl_is(data, size))
        return cairn_etl_read(log, data, size, choice, refusal);
    cairn_deframe(&log->frames, data, size, choice->dump, choice->progress);
    if (!log->frames.frames.count || (choice->dump && log->frames.dump != choice->dump)) {
        cairn_frames_free(&log->frames);
        return -ENOENT;
    }
    log->own = true;
    cairn_text_read(&log->text, &log->frames);
    log->sessions = find_sessions(log);
    cairn_log_select(log, log->sessions ? (uint32_t)__builtin_ctz(log->sessions) + 1 : 1);
    return 0;
}

void cairn_log_free(struct cairn_log *log)
{
    free_session(log);
    cairn_etl_free(log->etl);
    cairn_text_free(&log->text);
    cairn_frames_free(&log->frames);
    memset(log, 0, sizeof(*log));
}

bool cairn_log_damaged(const struct cairn_log *log)
{
    if (log->etl && log->etl->flaws.count)
        return true;
    if (log->frames.missing.count || !log->frames.total_known || log->frames.totals_differ || log->bad_frames ||
        log->bad_pieces)
        return true;
    for (uint32_t c = 0; c < log->cpus; c++) /* all frames are there, and still bytes are not: the kernel's fault */
        for (size_t i = 0; i < log->cpu[c].holes.count; i++)
            if (log->cpu[c].holes.items[i].kind == CAIRN_HOLE_BYTES ||
                log->cpu[c].holes.items[i].kind == CAIRN_HOLE_BUFFERS)
                return true;
    return false;
}

/* Number of the frame with which what came at the end of a live dump begins: its second header. */
static uint64_t end_of_live(const struct cairn_log *log)
{
    for (size_t i = 1; i < log->frames.frames.count; i++)
        if (log->frames.frames.items[i].stream == CAIRN_STREAM_HEADER)
            return log->frames.frames.items[i].number;
    return cairn_slice_is(cairn_key(&log->text, "dump.cause"), "live") ? UINT64_MAX : 0;
}

struct cairn_sent cairn_log_sent(const struct cairn_log *log)
{
    struct cairn_sent live = {0};
    const uint64_t end = end_of_live(log);
    for (size_t i = 0; i < log->frames.frames.count; i++)
        live.frames += log->frames.frames.items[i].stream == CAIRN_STREAM_TRACE &&
                       log->frames.frames.items[i].number < end;
    for (size_t i = 0; i < log->pieces.count; i++) {
        const struct cairn_piece *p = &log->pieces.items[i];
        live.buffers += p->frame < end && p->offset + p->size == p->used; /* its last piece */
    }
    return live;
}

bool cairn_log_modelled(const struct cairn_log *log)
{
    return !cairn_slice_is(cairn_key(&log->text, "ds.emulated"), "0");
}
