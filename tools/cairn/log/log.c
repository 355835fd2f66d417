/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tools/cairn/base/ahead.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/log/date.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/log/etl/etl.h"
#include "tools/cairn/log/session_lives.h"
#include "tools/cairn/log/stream.h"
#include "tools/cairn/log/told.h"

#define WORTH_THREADS (UINT64_C(4) << 20) /* bytes: a few ms of work */

/* ---- the truth -------------------------------------------------------------------------------------------------- */

static bool add_truth(struct cairn_log *log, const struct cairn_chain *c)
{
    if (c->bad)
        return false;
    *CAIRN_ADD(log->cpu[c->cpu].truth) = (struct cairn_truth_part){
        .at = c->at,
        .first = c->offset,
        .count = c->bytes / CAIRN_TRUTH_BYTES,
        .frame = c->number,
        .frames = c->count,
        .crc = c->crc,
        .kinds = c->kinds,
    };
    log->has_truth = true;
    if (c->cpu >= log->cpus)
        log->cpus = c->cpu + 1u;
    return true;
}

struct cairn_chain cairn_truth_chain(const struct cairn_truth_part *t)
{
    return (struct cairn_chain){
        .at = t->at, .number = t->frame, .count = t->frames, .crc = t->crc, .stream = CAIRN_STREAM_TRUTH};
}

static int by_first(const void *a, const void *b)
{
    const struct cairn_truth_part *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static void drop_truth(struct cairn_log *log, struct cairn_truth_part *t)
{
    struct cairn_chain c = cairn_truth_chain(t);
    const uint32_t count = cairn_chain_drop(&log->frames, &c, sizeof(struct cairn_truth_frame)) / CAIRN_TRUTH_BYTES;
    t->at = c.at;
    t->frame = c.number;
    t->frames = c.count;
    t->crc = c.crc;
    t->first += count;
    t->count -= count < t->count ? count : t->count;
    log->bad_frames++;
}

static void order_truth(struct cairn_log *log, struct cairn_cpu *cpu)
{
    struct cairn_truth_part *t = cpu->truth.items;
    size_t kept = 0;
    if (!cpu->truth.count)
        return;
    qsort(t, cpu->truth.count, sizeof(*t), by_first);
    for (size_t i = 0; i < cpu->truth.count; i++) {
        while (kept && t[i].frames && (uint64_t)t[kept - 1].first + t[kept - 1].count > t[i].first)
            drop_truth(log, &t[i]);
        if (t[i].frames)
            t[kept++] = t[i];
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
    if (number_of(log, "cpus", &v) && v <= MAX_CPUS)
        log->cpus = (uint32_t)v;
    cairn_date_of_log(log);
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
    for (size_t i = 0; i < log->frames.chains.count; i++) {
        const struct cairn_chain *c = &log->frames.chains.items[i];
        if (c->stream == CAIRN_STREAM_TRACE && c->session >= 1 && c->session <= TRACE_MAX_SESSIONS)
            found |= 1u << (c->session - 1);
    }
    return found;
}

/* Those that may have been used. */
static uint32_t cpus_of(const struct cairn_log *log)
{
    return !log->cpu ? 0 : log->cpus > MAX_CPUS ? log->cpus : MAX_CPUS;
}

static void free_cpus(struct cairn_log *log)
{
    for (uint32_t c = 0; c < cpus_of(log); c++) {
        struct cairn_cpu *cpu = &log->cpu[c];
        free(cpu->holes.items);
        cairn_records_free(&cpu->indexing.records);
        free(cpu->indexing.epochs.items);
        free(cpu->locks.configs.items);
        free(cpu->truth.items);
        free(cpu->acks.items);
        free(cpu->told.items);
        for (size_t i = 0; i < cpu->held.count; i++)
            free(cpu->held.items[i]);
        free(cpu->held.items);
        free(cpu->pieces);
    }
}

static void begin_session(struct cairn_log *log)
{
    free_cpus(log);
    memset(log->cpu, 0, cpus_of(log) * sizeof(*log->cpu));
    log->cpus = log->bad_frames = log->bad_pieces = log->other_sessions = 0;
    log->has_end = log->has_truth = false;
}

static void read_streams(struct cairn_log *log)
{
    read_session(log);
    if (log->wait_reasons)
        log->session.maximum_wait_reason = log->wait_reasons;
    for (size_t i = 0; i < log->frames.chains.count; i++) {
        const struct cairn_chain *c = &log->frames.chains.items[i];
        log->bad_frames += c->stream == CAIRN_STREAM_TRUTH && !add_truth(log, c);
        log->has_end |= c->stream == CAIRN_STREAM_END;
    }
    log->bad_frames += log->text.malformed;
    log->panic = cairn_slice_is(cairn_key(&log->text, "dump.cause"), "panic");
}

void cairn_log_cpu(struct cairn_log *log, uint32_t cpu)
{
    read_cpu_end(log, cpu, &log->cpu[cpu].end);
    log->cpu[cpu].pebs.fault_like = fault_like(log, cpu);
}

void cairn_log_order(struct cairn_log *log, uint32_t cpu)
{
    order_truth(log, &log->cpu[cpu]);
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

struct cpu_work {
    struct cairn_log *log;
    uint32_t cpu;
};

static bool index_cpu(void *cpu, void *block)
{
    (void)block;
    const struct cpu_work *w = cpu;
    cairn_log_index(w->log, w->cpu);
    return false;
}

/* The CPUs are independent. */
static void index_all(struct cairn_log *log)
{
    struct cpu_work work[MAX_CPUS];
    struct cairn_source source[MAX_CPUS], *sources[MAX_CPUS];
    struct cairn_ahead *ahead;
    for (uint32_t c = 0; c < log->cpus; c++) {
        work[c] = (struct cpu_work){log, c};
        source[c] =
            (struct cairn_source){.make = index_cpu, .context = &work[c], .blocks = (char *)&work[c], .room = 3};
        sources[c] = &source[c];
    }
    ahead = cairn_ahead_new(sources, log->cpus, log->helpers < log->cpus ? log->helpers : log->cpus);
    for (uint32_t c = 0; c < log->cpus; c++)
        cairn_ahead_next(ahead, sources[c]);
    cairn_ahead_free(ahead);
}

void cairn_log_select(struct cairn_log *log, uint32_t number)
{
    begin_session(log);
    log->number = number;
    read_streams(log);
    cairn_pieces_place(log);
    for (uint32_t c = 0; c < log->cpus; c++) {
        cairn_log_order(log, c);
        cairn_log_cpu(log, c);
    }
    index_all(log);
    cairn_pieces_holes(log);
    for (uint32_t c = 0; c < log->cpus; c++) {
        log->bad_pieces += log->cpu[c].bad_pieces;
        cairn_stops_find(&(struct cairn_stops){0}, &log->cpu[c]);
    }
    cairn_told_names(log);
}

bool cairn_log_has_branches(const struct cairn_log *log)
{
    for (uint32_t c = 0; c < log->cpus; c++)
        if (log->cpu[c].bts.records || log->cpu[c].bts.drained)
            return true;
    return false;
}

int cairn_log_read(struct cairn_log *log, const struct cairn_input *input, const struct cairn_choice *choice,
                   char refusal[CAIRN_REFUSAL])
{
    struct cairn_window first;
    size_t have;
    memset(log, 0, sizeof(*log));
    log->input = *input;
    log->input.own = false;
    log->wait_reasons = choice->maximum_wait_reason;
    cairn_window_init(&first, &log->input);
    const char *start = cairn_window(&first, 0, CAIRN_WINDOW_LEAST, &have);
    if (cairn_etl_is(start, have)) {
        log->cpu = cairn_alloc(CAIRN_CPUS_MOST * sizeof(*log->cpu));
        return cairn_etl_read(log, choice, refusal);
    }
    log->helpers = choice->threads ? choice->threads - 1 : log->input.size >= WORTH_THREADS ? cairn_helpers() : 0;
    cairn_deframe(&log->frames, &log->input, choice->dump, log->helpers, choice->progress);
    if (!log->frames.count || (choice->dump && log->frames.dump != choice->dump)) {
        cairn_frames_free(&log->frames);
        return log->input.error ? log->input.error : -ENOENT;
    }
    log->own = true;
    log->cpu = cairn_alloc(MAX_CPUS * sizeof(*log->cpu));
    cairn_text_read(&log->text, &log->frames);
    cairn_mappings_read(&log->maps, &log->text);
    log->sessions = find_sessions(log);
    cairn_log_select(log, log->sessions ? (uint32_t)__builtin_ctz(log->sessions) + 1 : 1);
    return 0;
}

void cairn_log_free(struct cairn_log *log)
{
    free_cpus(log);
    free(log->cpu);
    cairn_etl_free(log->etl);
    free(log->maps.items);
    cairn_text_free(&log->text);
    cairn_frames_free(&log->frames);
    cairn_input_close(&log->input);
    memset(log, 0, sizeof(*log));
}

bool cairn_log_damaged(const struct cairn_log *log)
{
    if (log->report)
        return log->flaw[0] != '\0';
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
    for (size_t i = 0; i < log->frames.chains.count; i++) {
        const struct cairn_chain *c = &log->frames.chains.items[i];
        if (c->stream == CAIRN_STREAM_HEADER && (i || c->count > 1))
            return (uint64_t)c->number + !i;
    }
    return cairn_slice_is(cairn_key(&log->text, "dump.cause"), "live") ? UINT64_MAX : 0;
}

struct cairn_sent cairn_log_sent(const struct cairn_log *log)
{
    struct cairn_sent live = {0};
    const uint64_t end = end_of_live(log);
    for (size_t i = 0; i < log->frames.chains.count; i++) {
        const struct cairn_chain *c = &log->frames.chains.items[i];
        if (c->stream == CAIRN_STREAM_TRACE && c->number < end)
            live.frames += end - c->number < c->count ? end - c->number : c->count;
    }
    for (uint32_t n = 0; n < log->cpus; n++)
        for (size_t i = 0; i < log->cpu[n].piece_count; i++) {
            const struct cairn_piece *p = &log->cpu[n].pieces[i];
            live.buffers += cairn_piece_last(p) < end && p->offset + p->size == p->used; /* its last piece */
        }
    return live;
}

const uint8_t *cairn_hold(const struct cairn_log *log, struct cairn_cpu *cpu, const uint8_t *payload, uint32_t size)
{
    if (log->etl)
        return payload;
    uint8_t *copy = cairn_alloc(size ? size : 1);
    memcpy(copy, payload, size);
    *CAIRN_ADD(cpu->held) = copy;
    return copy;
}

bool cairn_policy_is(const struct cairn_log *log, const char *name, const char *value)
{
    const struct cairn_slice is = cairn_key(&log->text, "ds.policy.%s", name);
    const uint32_t size = (uint32_t)strlen(value);
    return is.size > size && memcmp(is.at, value, size) == 0 && is.at[size] == '|';
}

bool cairn_log_arch(const struct cairn_log *log)
{
    uint64_t format;
    if (cairn_ds_number(&log->text, 0, "format", &format))
        return format == DS_FORMAT_ARCH;
    for (uint32_t c = 0; c < log->cpus; c++)
        if (log->cpu[c].pebs.base)
            return true;
    return false;
}

bool cairn_log_modelled(const struct cairn_log *log)
{
    return !cairn_slice_is(cairn_key(&log->text, "ds.emulated"), "0");
}

bool cairn_grab_skipped(const struct cairn_log *log, uint64_t skipped[2])
{
    return cairn_slice_numbers(cairn_key(&log->text, "grab.skipped"), skipped, 2) && (skipped[0] || skipped[1]);
}
