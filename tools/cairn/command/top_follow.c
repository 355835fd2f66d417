/* SPDX-License-Identifier: MIT */
/* Longer than 500 lines: the code that reads, adds up and forgets changes one state in turn. */
#include "tools/cairn/command/top_follow.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/log/stream.h"
#include "tools/cairn/model/elf.h"
#include "tools/cairn/model/loss.h"
#include "trace/wire/format.h"

#define HEAD_MAX (UINT32_C(8) << 20) /* bytes of text that are kept */

enum { ALL, NOW }; /* sides of a tally */

/* ---- what comes -------------------------------------------------------------------------------------------------- */

static void keep_line(char **items, size_t *count, size_t *room, const char *text, size_t size)
{
    while (*room < *count + size + 1)
        *items = cairn_grow(*items, *room, room, 1);
    memcpy(*items + *count, text, size);
    *count += size;
    (*items)[(*count)++] = '\n';
}

/* What a frame of the trace says of its place. Whether it lies behind what came of its CPU. */
static bool place(struct cairn_follow *f, const struct cairn_chain *chain, struct cairn_follow_frame *n)
{
    const struct cairn_follow_place *came = &f->cpu[chain->cpu].came;
    n->cpu = chain->cpu;
    n->offset = chain->offset;
    n->lost = chain->lost;
    n->place = (struct cairn_follow_place){chain->buffer, chain->sequence, chain->offset + chain->bytes, chain->used,
                                           .known = true};
    if (!came->known || chain->buffer > came->buffer)
        return true;
    return chain->buffer == came->buffer && chain->sequence == came->sequence && chain->used == came->used &&
           chain->offset >= came->end;
}

static void keep_trace(struct cairn_follow *f, const struct cairn_line *l, const char *text, size_t length)
{
    const struct cairn_chain chain = cairn_chain_of(&l->frame);
    struct cairn_follow_frame n = {.size = length + 1, .at = f->trace.count};
    if (chain.bad || chain.session < 1 || chain.session > TRACE_MAX_SESSIONS) {
        f->bad++;
        return;
    }
    f->session = f->session ? f->session : chain.session;
    if (chain.session != f->session)
        return;
    if (!cairn_chain_fits(&chain)) {
        f->bad++;
        return;
    }
    if (!place(f, &chain, &n)) {
        f->misplaced++;
        return;
    }
    keep_line(&f->trace.items, &f->trace.count, &f->trace.room, text, length);
    *CAIRN_ADD(f->waiting) = n;
    f->cpu[n.cpu].came = n.place;
    f->cpu[n.cpu].there = true;
    f->trace_frames++;
}

/* Takes a frame out of those that are missing. False: it is none of them. */
static bool was_missing(struct cairn_follow *f, uint32_t number)
{
    struct cairn_run *run = f->late.items, *end = run + f->late.count;
    while (run < end && run->last < number)
        run++;
    if (run == end || run->first > number)
        return false;
    f->missing--;
    if (run->first == run->last) {
        memmove(run, run + 1, (size_t)(end - run - 1) * sizeof(*run));
        f->late.count--;
    } else if (run->first == number) {
        run->first++;
    } else if (run->last == number || f->late.count == CAIRN_FOLLOW_RUNS) { /* too many: the rest is forgotten */
        run->last = number - 1;
    } else {
        memmove(run + 2, run + 1, (size_t)(end - run - 1) * sizeof(*run));
        run[1] = (struct cairn_run){.first = number + 1, .last = run->last};
        run->last = number - 1;
        f->late.count++;
    }
    return true;
}

static void note_missing(struct cairn_follow *f, uint64_t first, uint32_t last)
{
    f->missing += last - first + 1;
    if (f->late.count == CAIRN_FOLLOW_RUNS)
        memmove(f->late.items, f->late.items + 1, --f->late.count * sizeof(f->late.items[0]));
    f->late.items[f->late.count++] = (struct cairn_run){.first = (uint32_t)first, .last = last};
}

/* Whether the frame is one that has not come before. One that comes again the same is a repetition, and nothing is lost
 * by it: the line was sent again. */
static bool is_new(struct cairn_follow *f, uint32_t number, const char crc[8])
{
    struct cairn_follow_sent *sent = &f->sent[number % CAIRN_FOLLOW_SENT];
    if (number >= f->next) {
        if (number > f->next)
            note_missing(f, f->next, number - 1);
        f->next = (uint64_t)number + 1;
    } else if (!was_missing(f, number)) {
        f->misplaced += !sent->crc[0] || sent->number != number || memcmp(sent->crc, crc, 8) != 0;
        return false;
    }
    sent->number = number;
    memcpy(sent->crc, crc, 8);
    return true;
}

static void take_frame(void *context, const struct cairn_line *l, const char *text, size_t size)
{
    struct cairn_follow *f = context;
    const uint32_t number = l->frame.number;
    if (l->frame.stream == CAIRN_STREAM_HEADER && number == 0 && f->frames && (f->ended || f->next > 1))
        cairn_follow_reset(f); /* another dump */
    if (f->ended)
        return;
    f->frames++;
    if (!is_new(f, number, text + size - 8))
        return;
    if (l->frame.stream == CAIRN_STREAM_TRACE)
        keep_trace(f, l, text, size);
    else if (l->frame.stream == CAIRN_STREAM_LAST)
        f->ended = true;
    else if (l->frame.stream != CAIRN_STREAM_TRUTH && f->head.count + size < HEAD_MAX)
        keep_line(&f->head.items, &f->head.count, &f->head.room, text, size);
    else if (l->frame.stream != CAIRN_STREAM_TRUTH)
        f->full_head = true;
    if (f->trace.count >= CAIRN_FOLLOW_WINDOW)
        cairn_follow_read(f, false);
    if (f->trace.count >= CAIRN_FOLLOW_WINDOW) /* nothing was whole */
        cairn_follow_read(f, true);
}

void cairn_follow_init(struct cairn_follow *f, uint32_t session)
{
    *f = (struct cairn_follow){.session = session, .hz = TRACE_CLOCK_HZ};
    f->feed = (struct cairn_feed){.context = f, .frame = take_frame};
}

void cairn_follow_bytes(struct cairn_follow *f, const char *data, size_t size)
{
    cairn_feed_bytes(&f->feed, data, size);
}

void cairn_follow_reset(struct cairn_follow *f)
{
    const struct cairn_feed feed = f->feed; /* it may be what calls */
    const uint32_t session = f->session;
    for (unsigned i = 0; i < MAX_CPUS; i++)
        free(f->cpu[i].recent);
    cairn_tally_free(&f->reasons);
    cairn_tally_free(&f->functions);
    cairn_map_free(&f->by_tid);
    free(f->threads.items);
    free(f->head.items);
    free(f->trace.items);
    free(f->waiting.items);
    cairn_follow_init(f, session);
    f->feed = feed;
}

/* ---- what is added up -------------------------------------------------------------------------------------------- */

static void begin_now(struct cairn_follow *f)
{
    if (!f->stale)
        return;
    f->stale = false;
    for (size_t i = 0; i < f->threads.count; i++)
        f->threads.items[i].busy_now = f->threads.items[i].runs_now = 0;
    for (unsigned c = 0; c < MAX_CPUS; c++)
        f->cpu[c].busy_now = f->cpu[c].idle_now = f->cpu[c].unknown_now = f->cpu[c].switches_now = 0;
    for (size_t i = 0; i < f->reasons.rows.count; i++)
        f->reasons.rows.items[i]->side[NOW].count = 0;
    for (size_t i = 0; i < f->functions.rows.count; i++)
        f->functions.rows.items[i]->side[NOW].count = 0;
}

static struct cairn_follow_thread *thread_of(struct cairn_follow *f, uint32_t tid)
{
    const uint32_t known = cairn_map_find(&f->by_tid, tid);
    if (known)
        return &f->threads.items[known - 1];
    cairn_map_add(&f->by_tid, tid, (uint32_t)f->threads.count);
    struct cairn_follow_thread *t = CAIRN_ADD(f->threads);
    t->tid = tid;
    return t;
}

static void add_count(struct cairn_tally *tally, const char *name)
{
    struct cairn_tally_row *row = cairn_tally_row(tally, name);
    row->side[ALL].count++;
    row->side[NOW].count++;
}

static void add_stint(struct cairn_follow *f, struct cairn_follow_cpu *c, const struct cairn_stint *stint, bool now)
{
    const uint64_t span = stint->to > stint->from ? (uint64_t)stint->to - (uint64_t)stint->from : 0;
    const uint64_t span_now = now ? span : 0;
    if (stint->kind == CAIRN_STINT_UNKNOWN) {
        c->unknown += span;
        c->unknown_now += span_now;
    } else if (stint->kind == CAIRN_STINT_IDLE) {
        c->idle += span;
        c->idle_now += span_now;
    } else {
        struct cairn_follow_thread *t = thread_of(f, stint->tid);
        c->busy += span;
        c->busy_now += span_now;
        t->busy += span;
        t->busy_now += span_now;
    }
}

/* A live dump tells when the session began at its end only: then the time of each CPU before its first switch. */
static void add_beginnings(struct cairn_follow *f, const struct cairn_log *log)
{
    if (f->timed && log->session.start < f->first)
        f->first = log->session.start;
    for (unsigned i = 0; i < MAX_CPUS; i++) {
        struct cairn_follow_cpu *c = &f->cpu[i];
        struct cairn_stints stints;
        struct cairn_stint stint;
        cairn_stints_init(&stints, log);
        if (c->began_untold && cairn_stints_next(&stints, &c->first, &stint))
            add_stint(f, c, &stint, false);
        c->began_untold = false;
    }
}

static void add_switch(struct cairn_follow *f, struct cairn_follow_cpu *c, const struct cairn_switch *sw)
{
    struct cairn_stint stint;
    if (cairn_stints_next(&c->stints, sw, &stint)) {
        add_stint(f, c, &stint, true);
    } else {
        c->began_untold = true;
        c->first = *sw;
    }
    f->switches++;
    c->switches_now++;
    if (!f->timed || sw->time < f->first)
        f->first = sw->time;
    if (!f->timed || sw->time > f->last)
        f->last = sw->time;
    f->timed = true;
    if (sw->old_tid) {
        struct cairn_follow_thread *t = thread_of(f, sw->old_tid);
        t->runs++;
        t->runs_now++;
    }
    if (sw->old_tid && sw->detailed && !sw->raw)
        add_count(&f->reasons,
                  sw->state == KTHREAD_WAITING ? cairn_reason_name(sw->reason) : cairn_state_name(sw->state));
}

static bool may_be(const struct cairn_log *log, uint32_t tid)
{
    return !cairn_only_sampled(log) || cairn_is_sampled(log, tid);
}

/* By the rule of time, where the switches around a record are in the parts before, or the next. */
static void find_thread(struct cairn_follow *f, struct cairn_follow_cpu *c, const struct cairn_log *log, int64_t time)
{
    const struct cairn_follow_recent *next = NULL;
    uint64_t i = c->switches;
    for (; i && c->switches - i < CAIRN_FOLLOW_RECENT; i--) {
        const struct cairn_follow_recent *r = &c->recent[i % CAIRN_FOLLOW_RECENT];
        if (r->time <= time)
            break;
        next = r;
    }
    if (c->switches - i == CAIRN_FOLLOW_RECENT || (i && c->recent[i % CAIRN_FOLLOW_RECENT].time == time))
        return;
    if (!next) {
        c->orphans++;
        c->orphaned = time;
    } else if (!next->hole && may_be(log, next->tid)) {
        thread_of(f, next->tid)->records++;
    }
}

/* `ahead`: a switch behind it has come. `joins`: what seems to be missing in front of that is not. Where none has come
 * something may be missing yet: the next switch tells whose it is, or the end. */
static void add_record(struct cairn_follow *f, struct cairn_follow_cpu *c, const struct cairn_log *log,
                       const struct cairn_item *item, bool ahead, bool joins)
{
    const bool by_time = item->rule == CAIRN_BY_TIME, known = item->blame == CAIRN_BLAME_KNOWN;
    char function[CAIRN_SHOWN];
    f->records++;
    add_count(&f->functions, cairn_function_name(log, NULL, item->record->ip, function) ? function : "[unknown]");
    if (known && (ahead || !by_time))
        thread_of(f, item->tid)->records++;
    else if (by_time && (known || (item->blame == CAIRN_BLAME_LOSS && joins) || item->blame == CAIRN_BLAME_LAST))
        find_thread(f, c, log, item->time);
}

static void remember(struct cairn_follow *f, struct cairn_follow_cpu *c, const struct cairn_log *log,
                     const struct cairn_switch *sw)
{
    const bool hole = sw->hole != CAIRN_NO_HOLE;
    if (c->orphans && !hole && sw->time > c->orphaned && may_be(log, sw->old_tid))
        thread_of(f, sw->old_tid)->records += c->orphans;
    c->orphans = 0;
    if (!c->recent)
        c->recent = cairn_alloc(CAIRN_FOLLOW_RECENT * sizeof(*c->recent));
    c->switches++;
    c->recent[c->switches % CAIRN_FOLLOW_RECENT] = (struct cairn_follow_recent){sw->time, sw->old_tid, hole};
}

/* Whether the first piece really goes on where the part before ended. */
static bool goes_on(struct cairn_follow_cpu *c, const struct cairn_log *log, struct cairn_cpu *cpu)
{
    const bool begins = cairn_stops_find(&c->stops, cpu);
    const bool lossless = cpu->end.events_known && !cpu->end.events[CAIRN_LOST];
    return c->joined && !begins && !(log->session.circular && cpu->pieces[0].header && !lossless); /* see stream.c */
}

/* What is there of a CPU. Where that joins the part before, what seems to be missing in front of it is not. */
static void add_cpu(struct cairn_follow *f, struct cairn_log *log, uint32_t number)
{
    struct cairn_follow_cpu *c = &f->cpu[number];
    struct cairn_cpu *cpu = &log->cpu[number];
    struct cairn_lane lane;
    const struct cairn_item *item;
    cpu->tail = CAIRN_NO_HOLE; /* the end is not there yet: finish */
    c->joined = goes_on(c, log, cpu);
    cpu->tail = CAIRN_NO_HOLE;
    const uint32_t none = c->joined ? cpu->pieces[0].hole : CAIRN_NO_HOLE;
    c->there = true;
    f->bad += cpu->bad_pieces;
    cairn_lost_add(&f->dropped, cpu->drains.dropped.unknown ? CAIRN_DS_LOST_UNKNOWN : 0);
    cairn_lost_add(&f->dropped, cpu->drains.dropped.counted);
    for (size_t i = 0; i < cpu->piece_count; i++) {
        const uint32_t hole = cpu->pieces[i].hole;
        f->gaps += hole != CAIRN_NO_HOLE && hole != none && cpu->holes.items[hole].kind != CAIRN_HOLE_STOPPED;
    }
    if (!c->stints.has_time)
        cairn_stints_init(&c->stints, log);
    cairn_lane_init(&lane, log, number, cairn_prefers_compact(log), CAIRN_BY_FORMAT);
    while ((item = cairn_lane_next(&lane)) != NULL) {
        if (item->kind == CAIRN_ITEM_SWITCH) {
            struct cairn_switch sw = item->sw;
            sw.hole = c->hole ? 0 : sw.hole == none ? CAIRN_NO_HOLE : sw.hole;
            c->hole = false;
            remember(f, c, log, &sw);
            add_switch(f, c, &sw);
        }
        if (item->kind == CAIRN_ITEM_RECORD) {
            const struct cairn_switch *next = cairn_cursor_peek(&lane.cursor);
            add_record(f, c, log, item, next, !c->hole && none == (next ? next->hole : lane.cursor.hole));
        }
    }
    c->hole |= lane.cursor.hole != CAIRN_NO_HOLE && lane.cursor.hole != none;
    cairn_lane_free(&lane);
}

/* Whether something is missing behind the last frame of a CPU, as the end summary tells. */
static bool misses_end(const struct cairn_follow_place *read, const struct cairn_log *log, uint32_t cpu)
{
    const struct cairn_cpu_end *e = &log->cpu[cpu].end;
    const uint64_t begun = read->known ? (uint64_t)read->buffer + 1 : 0;
    return (e->buffers_known && e->buffers > begun) || (read->known && read->end != read->used) ||
           (e->events_known && e->events[CAIRN_LOST] && (!log->session.circular || log->panic));
}

/* The time behind the last switches, up to the session's end. */
static void finish(struct cairn_follow *f, const struct cairn_log *log)
{
    struct cairn_stint rest;
    const int64_t stop = log->session.stop_known ? log->session.stop : f->last;
    for (uint32_t i = 0; i < MAX_CPUS && (f->timed || log->session.stop_known); i++) {
        struct cairn_follow_cpu *c = &f->cpu[i];
        const bool ends = misses_end(&c->read, log, i), known = !ends && !c->hole && !c->stops.gone && !f->missing;
        if (!c->there)
            continue;
        f->gaps += ends;
        if (!c->stints.has_time)
            cairn_stints_init(&c->stints, log);
        if (c->orphans && known && c->stints.last.new_known && c->orphaned > c->stints.time &&
            may_be(log, c->stints.last.new_tid))
            thread_of(f, c->stints.last.new_tid)->records += c->orphans;
        c->orphans = 0;
        if (cairn_stints_end(&c->stints, log, i, known, stop, &rest))
            add_stint(f, c, &rest, true);
    }
    f->last = f->timed && f->last > stop ? f->last : stop;
    f->whole = true;
}

/* What the streams of text tell so far, the session's times and the end summary among it. */
static void add_text(struct cairn_follow *f, struct cairn_log *log)
{
    const bool compact = cairn_prefers_compact(log);
    const struct cairn_session *session = &log->session;
    f->hz = session->hz ? session->hz : TRACE_CLOCK_HZ;
    f->emulated |= cairn_slice_is(cairn_key(&log->text, "ds.emulated"), "1");
    if (!f->timed && session->start_known) {
        f->first = f->last = session->start;
        f->timed = true;
    }
    if (session->start_known)
        add_beginnings(f, log);
    f->tried = 0;
    f->tried_known = log->has_end;
    for (uint32_t c = 0; c < MAX_CPUS; c++) {
        const struct cairn_cpu_end *e = &log->cpu[c].end;
        f->cpu[c].there |= c < log->cpus;
        if (!f->cpu[c].there)
            continue;
        if (c >= log->cpus) /* it is in none of these frames */
            cairn_log_cpu(log, c);
        f->tried_known &= compact ? e->compact_known : e->full_known;
        f->tried += compact ? e->compact[CAIRN_TRIED] : e->full[CAIRN_TRIED];
    }
}

static void add_log(struct cairn_follow *f, struct cairn_log *log)
{
    if (log->number != f->session && f->session)
        cairn_log_select(log, f->session);
    add_text(f, log);
    for (uint32_t c = 0; c < log->cpus; c++)
        if (log->cpu[c].piece_count)
            add_cpu(f, log, c);
    if (f->ended && !f->waiting.count && !f->whole)
        finish(f, log);
    for (size_t i = 0; i < f->threads.count; i++) /* the last names come at the end */
        cairn_show_thread(f->threads.items[i].name, log, f->threads.items[i].tid, CAIRN_SHOWN - 1);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* Whether all of its buffer has come. */
static bool is_whole(const struct cairn_follow *f, const struct cairn_follow_frame *n)
{
    const struct cairn_follow_place *came = &f->cpu[n->cpu].came;
    return n->place.buffer < came->buffer || came->end >= came->used;
}

/* Takes the frames that are to be read now from those that wait. The text of them all, behind that of the head. */
static size_t take_part(struct cairn_follow *f, bool all, char *to)
{
    size_t size = 0, kept = 0, left = 0;
    for (unsigned c = 0; c < MAX_CPUS; c++)
        f->cpu[c].joined = false;
    bool begun[MAX_CPUS] = {false};
    for (size_t i = 0; i < f->waiting.count; i++) {
        struct cairn_follow_frame n = f->waiting.items[i];
        struct cairn_follow_cpu *c = &f->cpu[n.cpu];
        if (!all && !is_whole(f, &n)) {
            memmove(f->trace.items + left, f->trace.items + n.at, n.size);
            n.at = left;
            left += n.size;
            f->waiting.items[kept++] = n;
            continue;
        }
        memcpy(to + size, f->trace.items + n.at, n.size);
        size += n.size;
        if (!begun[n.cpu])
            c->joined = c->read.known && !n.lost &&
                        (n.offset ? n.place.buffer == c->read.buffer && n.offset == c->read.end
                                  : n.place.buffer == c->read.buffer + 1 && c->read.end >= c->read.used);
        begun[n.cpu] = true;
        c->read = n.place;
    }
    f->waiting.count = kept;
    f->trace.count = left;
    return size;
}

void cairn_follow_read(struct cairn_follow *f, bool all)
{
    if (!f->frames)
        return;
    char *text = cairn_alloc(f->head.count + f->trace.count + 1);
    struct cairn_log *log = cairn_alloc(sizeof(*log));
    char refusal[CAIRN_REFUSAL];
    if (f->head.count)
        memcpy(text, f->head.items, f->head.count);
    const size_t size = take_part(f, all, text + f->head.count);
    const struct cairn_input input = {.name = "", .data = text, .size = f->head.count + size, .fd = -1};
    if (size || all) {
        if (size)
            begin_now(f);
        if (cairn_log_read(log, &input, &(struct cairn_choice){0}, refusal) == 0) {
            add_log(f, log);
            cairn_log_free(log);
        }
    }
    free(log);
    free(text);
}

void cairn_follow_mark(struct cairn_follow *f)
{
    f->stale = true;
}
