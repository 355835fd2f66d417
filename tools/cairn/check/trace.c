/* SPDX-License-Identifier: MIT */
/* What must hold in the trace itself: frames, buffers, events, epochs, records. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/log/etl/etl.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/log/stream.h"

struct stamp {
    uint64_t index;
    int64_t time;
};

struct walk { /* along one CPU's events */
    struct cairn_check *check;
    const struct cairn_cpu *cpu;
    int n;
    bool has_time;
    int64_t time; /* of the event before */
    struct cairn_batches batches;
    struct cairn_running running;
    struct cairn_drained drained;
    bool throttled; /* counting stood still when the epoch now under way began */
    bool start_due; /* nothing is missing yet, and the first epoch has not begun */
    /* the epoch we are in */
    bool has_epoch;
    uint32_t epoch;         /* its number */
    uint64_t base, maximum; /* between which PebsIndex lies then */
    struct {
        struct stamp *items;
        size_t count, room;
    } stamps;                 /* of this epoch, since the last hole */
    struct cairn_links links; /* to the heads of buffers */
    struct cairn_group group; /* the drain at hand, with its records */
};

#define FAIL(w, rule, time, ...) cairn_fail((w)->check, rule, (w)->n, time, __VA_ARGS__)

/* ---- frames and buffers ----------------------------------------------------------------------------------------- */

static void check_frames(struct cairn_check *check)
{
    const struct cairn_frames *f = &check->log->frames;
    check->compared[CAIRN_RULE_FRAMES] = check->log->etl ? 0 : f->count;
    if (f->missing_frames || !f->total_known)
        cairn_fail(check, CAIRN_RULE_FRAMES, -1, NULL, "%" PRIu64 " of %" PRIu64 " frames %s missing",
                   f->missing_frames, f->total, cairn_plural(f->missing_frames, "is", "are"));
    if (f->totals_differ)
        cairn_fail(check, CAIRN_RULE_FRAMES, -1, NULL,
                   "header, trailer and frames disagree about the number of frames");
    if (check->log->bad_frames)
        cairn_fail(check, CAIRN_RULE_FRAMES, -1, NULL, "%" PRIu32 " %s what this stream cannot have",
                   check->log->bad_frames,
                   cairn_plural(check->log->bad_frames, "frame or line holds", "frames or lines hold"));
}

static void check_buffer(struct walk *w, const struct cairn_piece *p)
{
    struct cairn_check *check = w->check;
    struct wmi_buffer_header h;
    const struct cairn_session *s = &check->log->session;
    if (!cairn_piece_head(&w->links, p, &h))
        return; /* the file has changed */
    check->compared[CAIRN_RULE_BUFFERS]++;
#define EXPECT(what, is, should)                                                                                       \
    do {                                                                                                               \
        if ((is) != (should))                                                                                          \
            cairn_fail(check, CAIRN_RULE_BUFFERS, p->cpu, NULL, "buffer %" PRIu32 ": %s is %lld, not %lld", p->buffer, \
                       what, (long long)(is), (long long)(should));                                                    \
    } while (0)
    if (s->buffer_bytes)
        EXPECT("BufferSize", h.buffer_size, s->buffer_bytes);
    EXPECT("SavedOffset", h.saved_offset, p->used);
    EXPECT("CurrentOffset", h.current_offset, p->used);
    EXPECT("Offset", h.offset, p->used);
    EXPECT("ReferenceCount", h.reference_count, 0);
    EXPECT("SequenceNumber (low half)", (uint32_t)h.sequence_number, p->sequence);
    EXPECT("ProcessorIndex", h.processor_index, p->cpu);
    EXPECT("State", h.state, WMI_BUFFER_STATE_FLUSH);
    const uint16_t lost = s->live ? WMI_BUFFER_FLAG_BUFFER_LOST : WMI_BUFFER_FLAG_EVENTS_LOST;
    EXPECT("BufferFlag", h.buffer_flag & (uint16_t)~lost, WMI_BUFFER_FLAG_PROC_INDEX);
    EXPECT("BufferType", h.buffer_type, WMI_BUFFER_TYPE_GENERIC);
#undef EXPECT
    if (h.offset > h.buffer_size)
        cairn_fail(check, CAIRN_RULE_BUFFERS, p->cpu, NULL, "buffer %" PRIu32 ": it uses more bytes than it has",
                   p->buffer);
}

/* An ETL file: what the reader found in the headers. */
static void check_file(struct cairn_check *check)
{
    const struct cairn_etl *etl = check->log->etl;
    char what[CAIRN_SHOWN];
    check->compared[CAIRN_RULE_BUFFERS] = etl->buffers.count;
    for (size_t i = 0; i < etl->flaws.count; i++)
        cairn_fail(check, CAIRN_RULE_BUFFERS, -1, NULL, "%s", cairn_show_flaw(what, &etl->flaws.items[i]));
    for (size_t i = 1; i < etl->buffers.count && etl->cairn; i++) {
        const struct cairn_etl_buffer *b = &etl->buffers.items[i];
        if (!b->unread && !b[-1].unread && b->sequence != b[-1].sequence + 1)
            cairn_fail(check, CAIRN_RULE_BUFFERS, b->cpu, NULL, "sequence number %" PRIu64 " after %" PRIu64,
                       b->sequence, b[-1].sequence);
    }
}

static int by_number(const void *a, const void *b)
{
    const struct cairn_piece *x = *(const struct cairn_piece *const *)a, *y = *(const struct cairn_piece *const *)b;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->cpu != y->cpu ? x->cpu - y->cpu : (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

static int by_frame(const void *a, const void *b)
{
    const struct cairn_piece *x = *(const struct cairn_piece *const *)a, *y = *(const struct cairn_piece *const *)b;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* The dump has the buffers in the order they were begun: sequence numbers rise from frame to frame. A live session's go
 * out as they become full: each number is one buffer's, and those of a CPU rise. */
static void check_sequence(struct cairn_check *check)
{
    const bool live = check->log->session.live;
    uint32_t next[MAX_CPUS] = {0};
    size_t n = 0, all = 0;
    for (uint32_t c = 0; c < check->log->cpus; c++)
        all += check->log->cpu[c].piece_count;
    const struct cairn_piece **order = cairn_alloc(all * sizeof(*order));
    for (uint32_t c = 0; c < check->log->cpus; c++)
        for (size_t i = 0; i < check->log->cpu[c].piece_count; i++)
            order[n++] = &check->log->cpu[c].pieces[i];
    qsort(order, n, sizeof(*order), live ? by_number : by_frame);
    for (size_t i = 0; i < n && live; i++) {
        if (order[i]->buffer < next[order[i]->cpu])
            cairn_fail(check, CAIRN_RULE_BUFFERS, order[i]->cpu, NULL,
                       "buffer %" PRIu32 " has sequence number %" PRIu32 ", above that of a later one",
                       order[i]->buffer, order[i]->sequence);
        next[order[i]->cpu] = order[i]->buffer;
    }
    for (size_t i = 1; i < n; i++) {
        bool same = order[i]->cpu == order[i - 1]->cpu && order[i]->buffer == order[i - 1]->buffer;
        if (same ? order[i]->sequence != order[i - 1]->sequence : order[i]->sequence <= order[i - 1]->sequence)
            cairn_fail(check, CAIRN_RULE_BUFFERS, order[i]->cpu, NULL,
                       "buffer %" PRIu32 " has sequence number %" PRIu32 " after %" PRIu32, order[i]->buffer,
                       order[i]->sequence, order[i - 1]->sequence);
    }
    free(order);
}

/* ---- stamps, epochs, records ------------------------------------------------------------------------------------ */

static void check_stamp(struct walk *w, const struct cairn_event *e)
{
    struct cairn_check *check = w->check;
    if (check->log->etl && !check->log->own && !w->has_epoch)
        return; /* Windows tells nothing of the areas that its stamps point into */
    check->compared[CAIRN_RULE_ITEMS]++;
    const bool told = check->log->session.lives && !w->running.unknown && w->running.runs;
    const unsigned stamp = e->hook == HOOK_CONTEXTSWAP ? CAIRN_STAMP_FULL : CAIRN_STAMP_COMPACT;
    if (told && e->has_pebs_index != ((w->running.stamps & stamp) != 0))
        FAIL(w, CAIRN_RULE_ITEMS, &e->time, "%04XH event %s PebsIndex, but the session said otherwise", e->hook,
             e->has_pebs_index ? "with" : "without");
    else if (check->log->session.pebs == (e->has_pebs_index ? 0
                                          : told            ? -1
                                                            : 1) && /* told: it may be turned off */
             (e->has_pebs_index || !cairn_ds_without(&check->log->text, (uint32_t)w->n, &(struct cairn_slice){0})))
        FAIL(w, CAIRN_RULE_ITEMS, &e->time, "%04XH event %s PebsIndex in a session %s", e->hook,
             e->has_pebs_index ? "with" : "without", check->log->session.pebs ? "with DS" : "without DS");
    if (!e->has_pebs_index)
        return;
    check->compared[CAIRN_RULE_STAMPS]++;
    if (w->start_due)
        FAIL(w, CAIRN_RULE_STAMPS, &e->time, "PebsIndex 0x%" PRIx64 " comes while this CPU has no epoch",
             e->pebs_index);
    if (w->has_epoch && (e->pebs_index < w->base || e->pebs_index > w->maximum))
        FAIL(w, CAIRN_RULE_STAMPS, &e->time,
             "0x%" PRIx64 " is not within 0x%" PRIx64 "..0x%" PRIx64 " of this CPU's epoch %" PRIu32, e->pebs_index,
             w->base, w->maximum, w->epoch);
    if (w->stamps.count && e->pebs_index < w->stamps.items[w->stamps.count - 1].index)
        FAIL(w, CAIRN_RULE_STAMPS, &e->time, "0x%" PRIx64 " comes after 0x%" PRIx64 " in one epoch", e->pebs_index,
             w->stamps.items[w->stamps.count - 1].index);
    *CAIRN_ADD(w->stamps) = (struct stamp){e->pebs_index, e->time};
}

static void check_area(struct walk *w, const struct cairn_epoch *e, const struct cairn_buffer *b)
{
    const struct cairn_pebs_keys *k = &w->drained.keys;
    const uint64_t base = b->base, index = b->index, maximum = b->maximum, threshold = b->threshold;
    const uint64_t bytes = k->record_bytes.is, records = k->records.is, buffer = k->buffer.is;
    /* Linux sets the threshold when it turns PEBS on; before that it is 0. */
    const bool unset = cairn_log_grabbed(w->check->log) && !threshold && index == base;
    if (base > index || index > maximum + k->overrun || (base > threshold && !unset))
        FAIL(w, CAIRN_RULE_AREAS, &e->time,
             "base 0x%" PRIx64 ", index 0x%" PRIx64 ", threshold 0x%" PRIx64 ", maximum 0x%" PRIx64 " are not in order",
             base, index, threshold, maximum);
    if (k->buffer.known && k->buffer_bytes.known &&
        (base != buffer || maximum < buffer || maximum - buffer > k->buffer_bytes.is))
        FAIL(w, CAIRN_RULE_AREAS, &e->time, "0x%" PRIx64 "..0x%" PRIx64 " is not in this CPU's buffer at 0x%" PRIx64,
             base, maximum, buffer);
    if (bytes && (index - base) % bytes)
        FAIL(w, CAIRN_RULE_AREAS, &e->time, "the index lies within a record of %" PRIu64 " bytes", bytes);
    /* The maximum is a multiple of the record size, or one more: the manual's formula. */
    else if (bytes && k->records.known && maximum - base - records * bytes > 1)
        FAIL(w, CAIRN_RULE_AREAS, &e->time, "the maximum is not %" PRIu64 " %s above the base", records,
             cairn_plural(records, "record", "records"));
    if (e->reason != CAIRN_DS_START && e->record_bytes != index - base)
        FAIL(w, CAIRN_RULE_AREAS, &e->time, "%" PRIu32 " bytes of records, but index - base is %" PRIu64,
             e->record_bytes, index - base);
    if (e->reason != CAIRN_DS_START && e->lost && e->lost != CAIRN_DS_LOST_UNKNOWN && bytes && maximum > index &&
        maximum - index >= bytes)
        FAIL(w, CAIRN_RULE_AREAS, &e->time, "%" PRIu64 " %s lost, but the buffer was not full", e->lost,
             cairn_plural(e->lost, "record", "records"));
    if (e->reason != CAIRN_DS_START && !cairn_log_modelled(w->check->log) && e->lost != CAIRN_DS_LOST_UNKNOWN &&
        bytes && (e->lost || index + bytes > maximum))
        FAIL(w, CAIRN_RULE_AREAS, &e->time,
             "%" PRIu64 " %s lost, but a processor does not count what a full buffer loses", e->lost,
             cairn_plural(e->lost, "record", "records"));
}

/* Whether the record, of `behind` in its epoch from it on, may be one of those that the kernel has seen come after it
 * had turned counters off: these are of before the last stamps, and stored behind them. */
static bool late(const struct walk *w, const struct cairn_epoch *e, size_t behind)
{
    const struct cairn_number all = w->drained.keys.late;
    return (e->reason == CAIRN_DS_STOP || e->reason == CAIRN_DS_RECONFIGURE) && all.known && behind <= all.is;
}

/* The records of the epoch that ends here: each stamp lies at the end of a record, those before it are no younger,
 * those behind it no older. */
static void check_stamps_against_records(struct walk *w, const struct cairn_epoch *e, uint64_t base)
{
    const struct cairn_record *r = w->group.records.items;
    size_t first = 0;
    if (e->bytes_seen != e->record_bytes)
        return; /* part of them is missing: that shows elsewhere */
    while (first < w->group.records.count && r[first].epoch < e->number)
        first++;
    size_t last = first, before = first;
    while (last < w->group.records.count && r[last].epoch == e->number)
        last++;
    for (size_t i = 0; i < w->stamps.count; i++) {
        const struct stamp *s = &w->stamps.items[i];
        while (before < last && r[before].index < s->index)
            before++;
        uint64_t end = before > first ? r[before - 1].index + r[before - 1].size : base;
        w->check->compared[CAIRN_RULE_RECORDS]++;
        if (s->index != end)
            FAIL(w, CAIRN_RULE_RECORDS, &s->time, "PebsIndex 0x%" PRIx64 " is not at the end of a record", s->index);
        if (before > first && r[before - 1].timed && r[before - 1].time > s->time)
            FAIL(w, CAIRN_RULE_RECORDS, &s->time, "a record before PebsIndex 0x%" PRIx64 " is younger than it",
                 s->index);
        if (before < last && r[before].timed && r[before].time < s->time && !late(w, e, last - before))
            FAIL(w, CAIRN_RULE_RECORDS, &s->time, "a record after PebsIndex 0x%" PRIx64 " is older than it", s->index);
    }
}

/* Without the end summary nothing says how many buffers the CPU began, and no hole stands for them. */
bool cairn_check_end_unknown(const struct cairn_log *log, const struct cairn_cpu *cpu)
{
    const struct cairn_frames *f = &log->frames;
    const struct cairn_piece *last = &cpu->pieces[cpu->piece_count - 1];
    return cpu->tail != CAIRN_NO_HOLE ||
           (!cpu->end.buffers_known &&
            (!f->total_known || cairn_missing_between(f, cairn_piece_last(last), UINT32_MAX) != NULL));
}

/* Whether something may be missing between the beginning of the drain at hand and the next drain. If a panic comes in
 * the middle of a drain, the rest of its records is missing. */
static bool hole_behind(const struct walk *w, const struct cairn_epoch *e)
{
    const uint32_t next = w->group.has_ahead ? w->group.ahead.piece : (uint32_t)w->cpu->piece_count;
    for (uint32_t p = e->piece + 1; p < w->cpu->piece_count && p <= next; p++)
        if (w->cpu->pieces[p].hole != CAIRN_NO_HOLE)
            return true;
    return next >= w->cpu->piece_count &&
           (cairn_check_end_unknown(w->check->log, w->cpu) || (w->check->log->panic && e->reason != CAIRN_DS_PANIC));
}

static void check_epoch(struct walk *w)
{
    const struct cairn_epoch *e = cairn_group_drain(&w->group);
    if (!e)
        return; /* the file has changed */
    const struct cairn_buffer b = cairn_epoch_buffer(e);
    const uint64_t down = b.base - b.stamp; /* from an address to PebsIndex */
    bool start = e->reason == CAIRN_DS_START;
    w->check->compared[CAIRN_RULE_EPOCHS]++;
    if (e->reason < CAIRN_DS_START || e->reason > CAIRN_DS_SOFTWARE || e->reason == CAIRN_DS_SWITCH)
        FAIL(w, CAIRN_RULE_EPOCHS, &e->time, "reason %u does not exist", e->reason);
    if (w->start_due && !start)
        FAIL(w, CAIRN_RULE_EPOCHS, &e->time, "epoch %" PRIu32 " ends, but no event says that it began", e->number);
    if (w->has_epoch && e->number != w->epoch)
        FAIL(w, CAIRN_RULE_EPOCHS, &e->time, "epoch %" PRIu32 ", but %" PRIu32 " was expected", e->number, w->epoch);
    if (w->check->log->session.known && trace_clock_units(&w->check->log->session.clock, e->tsc) > e->time)
        FAIL(w, CAIRN_RULE_EPOCHS, &e->time, "the drain's TSC is later than its event");
    if (w->throttled && e->record_bytes)
        FAIL(w, CAIRN_RULE_EPOCHS, &e->time, "%" PRIu32 " bytes of records while counting was paused", e->record_bytes);
    w->throttled = e->reason == CAIRN_DS_THROTTLE || (w->throttled && e->reason == CAIRN_DS_RECONFIGURE);
    w->check->compared[CAIRN_RULE_AREAS]++;
    if (e->format == DS_FORMAT_ARCH)
        cairn_check_registers(&w->drained, e);
    else
        check_area(w, e, &b);
    if (w->stamps.count && w->stamps.items[w->stamps.count - 1].index > b.index - down)
        FAIL(w, CAIRN_RULE_STAMPS, &e->time, "a stamp of epoch %" PRIu32 " is above its last index", e->number);
    if (!start) {
        if (!hole_behind(w, e) && (e->bytes_seen != e->record_bytes || e->events_seen != e->record_events))
            FAIL(w, CAIRN_RULE_RECORDS, &e->time,
                 "%" PRIu32 " bytes of records in %" PRIu32 " %s, not %" PRIu32 " in %" PRIu32, e->bytes_seen,
                 e->events_seen, cairn_plural(e->events_seen, "event follows", "events follow"), e->record_bytes,
                 e->record_events);
        if (e->torn && !hole_behind(w, e))
            FAIL(w, CAIRN_RULE_RECORDS, &e->time, "of %" PRIu32 " %s of epoch %" PRIu32 " only parts are present",
                 e->torn, cairn_plural(e->torn, "record", "records"), e->number);
        check_stamps_against_records(w, e, b.stamp);
    }
    w->stamps.count = 0;
    w->start_due = e->reason == CAIRN_DS_STOP;
    w->has_epoch = true;
    w->epoch = start ? e->number : e->number + 1;
    cairn_batches_drained(&w->batches, e);
    cairn_drained_epoch(&w->drained, e);
    w->base = b.stamp;
    w->maximum = b.maximum - down + w->drained.keys.overrun;
}

/* ---- the walk --------------------------------------------------------------------------------------------------- */

/* Whether the writer of an ETL file has added it. Of a cut file nobody knows which buffers are the kernel's. */
static bool added(const struct walk *w, const struct cairn_piece *p, const struct cairn_event *e)
{
    const struct cairn_etl *etl = w->check->log->etl;
    return etl && (etl->account ? p->added : !cairn_event_decoded(e) || e->hook == HOOK_CAIRN_STREAM);
}

static void check_event(struct walk *w, const struct cairn_piece *p, const struct cairn_event *e)
{
    w->check->compared[CAIRN_RULE_EVENTS]++;
    if (!e->has_time)
        return;
    w->check->compared[CAIRN_RULE_TIMES]++;
    if (w->has_time && e->time < w->time)
        cairn_check_backwards(w->check, (uint32_t)w->n, e->time, "an event is earlier than the previous event");
    w->time = e->time;
    w->has_time = true;
    if (!added(w, p, e))
        cairn_running_event(&w->running, e);
    if (!cairn_event_decoded(e))
        return;
    if (e->hook == HOOK_CONTEXTSWAP_BATCH || e->hook == HOOK_CONTEXTSWAP)
        check_stamp(w, e);
    if (e->hook == HOOK_CONTEXTSWAP_BATCH)
        cairn_batches_next(&w->batches, e);
    else if (e->hook == HOOK_CAIRN_SESSION)
        cairn_batches_told(&w->batches);
    else if (e->hook == HOOK_CAIRN_DS && cairn_get16(e->payload) == CAIRN_DS_EPOCH)
        check_epoch(w);
    else if (e->hook == HOOK_CAIRN_DS)
        cairn_drained_part(&w->drained, e);
}

/* What the kernel lost or overwrote it has counted; anything else that is missing is damage, or the kernel's fault. */
static void check_hole(struct walk *w, uint32_t hole)
{
    const struct cairn_hole *h = &w->cpu->holes.items[hole];
    char what[CAIRN_SHOWN];
    w->start_due = w->has_epoch = false;
    w->stamps.count = 0;
    cairn_batches_hole(&w->batches, h);
    cairn_running_hole(&w->running, h);
    cairn_drained_hole(&w->drained);
    if (h->kind == CAIRN_HOLE_BYTES || h->kind == CAIRN_HOLE_BUFFERS)
        FAIL(w, CAIRN_RULE_BUFFERS, w->has_time ? &w->time : NULL, "%s", cairn_show_hole(what, w->check->log, h));
}

static void enter_piece(struct walk *w, const struct cairn_piece *p)
{
    if (p->hole != CAIRN_NO_HOLE)
        check_hole(w, p->hole);
    if (p->header)
        check_buffer(w, p);
}

static void leave_piece(struct walk *w, const struct cairn_piece *p)
{
    if (p->malformed)
        FAIL(w, CAIRN_RULE_EVENTS, w->has_time ? &w->time : NULL,
             "buffer %" PRIu32 ", offset 0x%" PRIx32 ": no event begins there", p->buffer, p->offset + p->size);
}

static void check_events(struct walk *w)
{
    const struct cairn_piece *pieces = w->cpu->pieces;
    struct cairn_walk walk;
    struct cairn_event e;
    uint32_t at = 0;
    cairn_walk_init(&walk, w->check->log, (uint32_t)w->n);
    for (bool more = true; more;) {
        more = cairn_walk_next(&walk, &e);
        for (const uint32_t to = more ? e.piece + 1 : (uint32_t)w->cpu->piece_count; at < to; at++) {
            if (at)
                leave_piece(w, &pieces[at - 1]);
            enter_piece(w, &pieces[at]);
        }
        if (more)
            check_event(w, &pieces[e.piece], &e);
    }
    if (at)
        leave_piece(w, &pieces[at - 1]);
    if (w->cpu->tail != CAIRN_NO_HOLE)
        check_hole(w, w->cpu->tail);
}

static void check_cpu(struct cairn_check *check, uint32_t n)
{
    struct walk *w = cairn_alloc(sizeof(*w));
    *w = (struct walk){.check = check, .cpu = &check->log->cpu[n], .n = (int)n, .start_due = check->log->own};
    w->batches = (struct cairn_batches){.check = check, .n = n};
    w->running = (struct cairn_running){.check = check, .n = n};
    cairn_drained_init(&w->drained, check, n);
    cairn_links_init(&w->links, &check->log->frames);
    cairn_group_init(&w->group, check->log, n);
    check_events(w);
    cairn_batches_end(&w->batches);
    cairn_running_end(&w->running);
    cairn_group_free(&w->group);
    free(w->stamps.items);
    free(w);
    cairn_check_pebs(check, n);
    cairn_check_bts(check, n);
    cairn_check_log(check, n);
    cairn_check_locks(check, n);
    cairn_check_items(check, n);
}

void cairn_check_trace(struct cairn_check *check)
{
    check_frames(check);
    if (check->log->etl)
        check_file(check);
    else
        check_sequence(check);
    for (uint32_t n = 0; n < check->log->cpus; n++)
        if (cairn_check_any(check->log, n))
            check_cpu(check, n);
    cairn_check_maps(check);
    cairn_check_counts(check);
    cairn_check_rundown(check);
}
