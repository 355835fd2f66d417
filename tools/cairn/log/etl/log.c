/* SPDX-License-Identifier: MIT */
/* An ETL file as a log: its session, and its buffers as the pieces of each CPU's stream. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/log/date.h"
#include "tools/cairn/log/etl/etl.h"
#include "tools/cairn/log/session_lives.h"
#include "tools/cairn/log/stream.h"
#include "tools/cairn/log/told.h"

/* ---- the session ------------------------------------------------------------------------------------------------ */

/* As the file's first event has it, where no stream tells more. */
static void read_session(struct cairn_log *log, const struct cairn_etl *etl)
{
    struct cairn_session *s = &log->session;
    uint64_t hz = cairn_etl_hz(etl);
    s->maximum_wait_reason = cairn_etl_wait_reasons(etl->header.provider_version);
    s->hz = hz ? hz : TRACE_CLOCK_HZ;
    s->start = etl->start;
    s->start_known = true;
    __int128 units = (__int128)((uint64_t)etl->header.end_time - (uint64_t)etl->times.start_time) * s->hz / 10000000;
    s->stop_known = etl->header.end_time > etl->times.start_time && etl->times.start_time > 0 && units <= INT64_MAX &&
                    !__builtin_add_overflow(s->start, (int64_t)units, &s->stop);
    log->cpus = etl->header.processors < CAIRN_CPUS_MOST ? etl->header.processors : CAIRN_CPUS_MOST;
    cairn_date_of_etl(log);
}

/* ---- buffers as pieces ------------------------------------------------------------------------------------------ */

struct stream { /* one CPU's, being built */
    struct cairn_log *log;
    uint32_t cpu;
    bool open; /* the last piece takes the next event */
    bool gap;  /* `hole` is before the next piece */
    struct cairn_hole hole;
};

/* `buffer`: in the order of the file, as flaws count them. */
static void note_bytes(struct stream *s, uint32_t buffer, uint64_t bytes)
{
    if (!s->gap || s->hole.kind != CAIRN_HOLE_BYTES)
        s->hole = (struct cairn_hole){.kind = CAIRN_HOLE_BYTES, .malformed = true, .buffer = buffer};
    s->hole.bytes += bytes;
    s->gap = true;
    s->open = false;
    s->log->cpu[s->cpu].bad_pieces++;
}

static uint32_t take_hole(struct stream *s)
{
    struct cairn_cpu *cpu = &s->log->cpu[s->cpu];
    if (!s->gap)
        return CAIRN_NO_HOLE;
    *CAIRN_ADD(cpu->holes) = s->hole;
    s->gap = false;
    return (uint32_t)cpu->holes.count - 1;
}

static void add_buffer(struct stream *s, const struct cairn_etl_buffer *b)
{
    struct cairn_log *log = s->log;
    struct cairn_event e;
    struct cairn_cpu *cpu = &log->cpu[s->cpu];
    const uint64_t events = cpu->events, other_events = cpu->other_events, with_items = cpu->with_items;
    uint32_t at = 0, ordinal = (uint32_t)cpu->buffers++;
    s->open = false;
    for (; cairn_event_at(b->events, b->size, at, &e); at += e.space) {
        uint32_t piece = (uint32_t)cpu->piece_count - (s->open ? 1 : 0);
        cpu->indexing.piece_begins = !s->open;
        if (!cairn_log_index_event(log, s->cpu, &e, piece) ||
            (log->etl->account && !b->added && !cairn_told_index(log, cpu, &e))) {
            note_bytes(s, b->number, e.space);
            continue;
        }
        if (e.has_time && e.time > log->etl->last)
            log->etl->last = e.time;
        if (!s->open)
            *cairn_add_piece(cpu) = (struct cairn_piece){
                .data = b->events + at,
                .buffer = ordinal,
                .sequence = (uint32_t)b->sequence,
                .offset = at + (uint32_t)sizeof(struct wmi_buffer_header),
                .used = b->size + (uint32_t)sizeof(struct wmi_buffer_header),
                .cpu = (uint16_t)s->cpu,
                .hole = take_hole(s),
                .added = b->added,
            };
        s->open = true;
        cpu->pieces[cpu->piece_count - 1].size += e.space;
    }
    if (at != b->size)
        note_bytes(s, b->number, b->size - at);
    if (b->added) { /* in none of the kernel's counts */
        cpu->events = events;
        cpu->other_events = other_events;
        cpu->with_items = with_items;
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* How many of the sorted numbers are below `value`. */
static size_t below(const uint64_t *numbers, size_t count, uint64_t value)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (numbers[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct order { /* of all buffers */
    const struct cairn_etl *etl;
    uint64_t *sequences;                     /* sorted */
    const struct cairn_etl_buffer **buffers; /* by CPU, then as they were written */
    size_t count;
    uint32_t *unread; /* so many of the file's buffers are before each, and before its end */
};

static int by_place(const void *a, const void *b)
{
    const struct cairn_etl_buffer *x = *(const struct cairn_etl_buffer *const *)a;
    const struct cairn_etl_buffer *y = *(const struct cairn_etl_buffer *const *)b;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* A circular file goes on at its beginning once it is full. */
static int by_sequence(const void *a, const void *b)
{
    const struct cairn_etl_buffer *x = *(const struct cairn_etl_buffer *const *)a;
    const struct cairn_etl_buffer *y = *(const struct cairn_etl_buffer *const *)b;
    if (x->cpu == y->cpu && x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return by_place(a, b);
}

/* Whether the file's first sequence number behind that of its header may be any. */
static bool keeps_newer(const struct cairn_etl *etl)
{
    return etl->header.log_file_mode & (ETL_MODE_CIRCULAR | ETL_MODE_NEW_FILE | ETL_MODE_BUFFERING);
}

/* Whether no buffer has some of the sequence numbers between two. */
static bool skips(const struct order *o, uint64_t from, uint64_t to)
{
    return to > from + 1 && below(o->sequences, o->count, to) - below(o->sequences, o->count, from + 1) < to - from - 1;
}

/* Why something may be missing (enum cairn_maybe) behind `last` (NULL, or that of the header: none of this CPU is
 * before it) and before sequence number `next`; -1: nothing. Files written here flag the buffer behind which it was;
 * what Windows flags in files is not known, so there every buffer of a file with loss is suspect, and every one behind
 * which a number is missing, whose CPU nobody knows. */
static int lost_behind(const struct order *o, const struct cairn_etl_buffer *last, uint64_t next)
{
    const struct cairn_etl *etl = o->etl;
    const bool first = !last || last->type == ETL_BUFFER_TYPE_HEADER;
    if (last && cairn_etl_flags_loss(last))
        return CAIRN_MAYBE_COUNTED;
    if (etl->cairn)
        return -1;
    if (!first && (etl->header.events_lost || etl->times.buffers_lost))
        return CAIRN_MAYBE_COUNTED;
    if (!skips(o, first ? o->sequences[0] : last->sequence, next))
        return -1;
    return first && keeps_newer(etl) ? CAIRN_MAYBE_OLDER : CAIRN_MAYBE_MISSING;
}

/* Whether between two positions in the file a buffer lies that might be of any CPU. A circular file goes on at its
 * beginning. */
static bool unread_between(const struct order *o, size_t from, size_t to)
{
    return from <= to ? o->unread[to] != o->unread[from]
                      : o->unread[to] || o->unread[o->etl->buffers.count] != o->unread[from];
}

/* Before the buffer `next`, or where that is NULL, the end of the file, behind `last` (NULL: none of its CPU is). */
static void note_lost(struct stream *s, const struct order *o, const struct cairn_etl_buffer *last,
                      const struct cairn_etl_buffer *next)
{
    const size_t to = next ? next->number : o->etl->buffers.count;
    const bool any = next || (last && last->type != ETL_BUFFER_TYPE_HEADER);
    int why = any ? lost_behind(o, last, next ? next->sequence : o->sequences[o->count - 1] + 1) : -1;
    if (why != CAIRN_MAYBE_COUNTED && unread_between(o, last ? last->number : 0, to))
        why = CAIRN_MAYBE_UNREAD;
    if (why < 0)
        return;
    if (!s->gap)
        s->hole = (struct cairn_hole){.kind = CAIRN_HOLE_MAYBE_LOST, .why = (uint8_t)why};
    s->gap = true;
}

/* The buffers of one CPU, which begin at `at` of the order. Returns where the next CPU's begin. */
static size_t add_cpu(struct cairn_log *log, const struct order *o, uint32_t n, size_t at)
{
    struct stream s = {.log = log, .cpu = n};
    const struct cairn_etl_buffer *last = NULL;
    uint64_t overwritten;
    if (cairn_slice_u64(cairn_key(&log->text, "export.cpu.%" PRIu32 ".overwritten", n), &overwritten) && overwritten &&
        overwritten <= UINT32_MAX) {
        s.hole = (struct cairn_hole){.kind = CAIRN_HOLE_OVERWRITTEN, .buffers = (uint32_t)overwritten};
        s.gap = true;
    }
    for (; at < o->count && o->buffers[at]->cpu == n; at++) {
        const struct cairn_etl_buffer *next = o->buffers[at];
        note_lost(&s, o, last, next);
        last = next;
        add_buffer(&s, last);
    }
    note_lost(&s, o, last, NULL);
    log->cpu[n].tail = take_hole(&s);
    cairn_log_index_end(log, n);
    log->bad_pieces += log->cpu[n].bad_pieces;
    return at;
}

/* Sequence numbers that no buffer has, and whose buffer is none of those that cannot be read. */
static void count_skipped(const struct order *o, struct cairn_etl *etl)
{
    for (size_t i = 1; i < o->count && !etl->cairn; i++) {
        const uint64_t gap = o->sequences[i] - o->sequences[i - 1];
        if (gap < 2 || (i == 1 && keeps_newer(etl)))
            continue;
        etl->skipped += gap - 1;
        etl->skipped_first |= i == 1;
    }
    const uint64_t unread = o->unread[etl->buffers.count];
    etl->skipped -= unread < etl->skipped ? unread : etl->skipped;
}

static void add_buffers(struct cairn_log *log, struct cairn_etl *etl, void (*progress)(uint64_t, uint64_t))
{
    struct order o = {.etl = etl};
    o.sequences = cairn_alloc(etl->buffers.count * sizeof(*o.sequences));
    o.buffers = cairn_alloc(etl->buffers.count * sizeof(*o.buffers));
    o.unread = cairn_alloc((etl->buffers.count + 1) * sizeof(*o.unread));
    for (size_t i = 0; i < etl->buffers.count; i++) {
        const struct cairn_etl_buffer *b = &etl->buffers.items[i];
        o.unread[i + 1] = o.unread[i] + b->unread;
        if (b->unread)
            continue;
        o.buffers[o.count] = b;
        o.sequences[o.count++] = b->sequence;
        if (b->cpu >= log->cpus)
            log->cpus = b->cpu + 1u;
    }
    qsort(o.buffers, o.count, sizeof(*o.buffers),
          etl->header.log_file_mode & ETL_MODE_CIRCULAR ? by_sequence : by_place);
    qsort(o.sequences, o.count, sizeof(*o.sequences), by_value);
    count_skipped(&o, etl);
    size_t at = 0;
    for (uint32_t n = 0; n < log->cpus; n++) {
        cairn_log_cpu(log, n);
        at = add_cpu(log, &o, n, at);
        if (progress)
            progress(at, o.count);
    }
    free(o.sequences);
    free(o.unread);
    free(o.buffers);
}

/* Which buffers the writer of the file added, before the kernel's and behind them. */
static void mark_writers(const struct cairn_log *log, struct cairn_etl *etl)
{
    const size_t count = etl->buffers.count;
    uint64_t before, behind;
    etl->account = log->own && cairn_slice_u64(cairn_key(&log->text, "export.buffers_before"), &before) &&
                   cairn_slice_u64(cairn_key(&log->text, "export.buffers_behind"), &behind) && before <= count &&
                   behind <= count - before;
    for (size_t i = 0; i < count && etl->account; i++)
        etl->buffers.items[i].added = !etl->buffers.items[i].unread && (i < before || i >= count - behind);
}

/* The buffers that the writer of the file added are not in the kernel's counts. And whether the log it was made from
 * was whole. */
static void take_off_writers(struct cairn_log *log, struct cairn_etl *etl)
{
    for (size_t i = 0; i < etl->buffers.count; i++)
        log->cpu[etl->buffers.items[i].cpu].buffers -= etl->buffers.items[i].added;
    if (cairn_slice_is(cairn_key(&log->text, "export.damaged"), "1"))
        cairn_etl_flaw(etl, UINT32_MAX, "the log that the file was made from was damaged");
}

int cairn_etl_read(struct cairn_log *log, const struct cairn_choice *choice, char refusal[CAIRN_REFUSAL])
{
    struct cairn_etl *etl = log->etl = cairn_alloc(sizeof(*etl));
    int e = choice->dump > 1 ? -ENOENT : cairn_input_load(&log->input);
    if (!e)
        e = cairn_etl_open(etl, (const uint8_t *)log->input.data, log->input.size, refusal);
    if (e) {
        cairn_log_free(log);
        return e;
    }
    log->frames.input = &log->input;
    cairn_etl_gather(log, etl);
    cairn_log_streams(log);
    if (!log->own)
        read_session(log, etl);
    if (log->wait_reasons)
        log->session.maximum_wait_reason = log->wait_reasons;
    mark_writers(log, etl);
    add_buffers(log, etl, choice->progress);
    for (uint32_t n = 0; n < log->cpus; n++) {
        cairn_stops_find(&(struct cairn_stops){0}, &log->cpu[n]);
        cairn_log_order(log, n);
        log->session.compact |= !log->own && log->cpu[n].switches.compact;
        log->session.full |= !log->own && log->cpu[n].switches.full;
    }
    if (!log->own && log->session.stop_known && log->session.stop < etl->last)
        log->session.stop = etl->last; /* Windows tells the end in ticks of its timer: events may lie behind that */
    take_off_writers(log, etl);
    cairn_told_names(log);
    return 0;
}
