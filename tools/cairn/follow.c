/* SPDX-License-Identifier: MIT */
#include "tools/cairn/follow.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/bytes.h"
#include "tools/cairn/names.h"
#include "tools/cairn/export/writer.h"
#include "trace/format.h"

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

/* A buffer of the trace is as its frames say; what does not fit behind what came is a repetition. */
static void keep_trace(struct cairn_follow *f, const uint8_t *p, uint32_t size, const char *text, size_t length)
{
    const uint32_t head = sizeof(struct cairn_trace_frame);
    if (size < head)
        return;
    const uint16_t cpu = cairn_get16(p + offsetof(struct cairn_trace_frame, cpu));
    const uint32_t session = cairn_get16(p + offsetof(struct cairn_trace_frame, session));
    struct cairn_follow_frame n = {.size = length + 1, .cpu = cpu};
    n.offset = cairn_get32(p + offsetof(struct cairn_trace_frame, offset));
    n.place.buffer = cairn_get32(p + offsetof(struct cairn_trace_frame, cpu_buffer));
    n.place.used = cairn_get32(p + offsetof(struct cairn_trace_frame, used));
    n.place.end = n.offset + (size - head);
    n.place.known = true;
    if (cpu >= CAIRN_MAX_CPUS || session < 1 || session > TRACE_MAX_SESSIONS || n.place.end < n.offset)
        return;
    f->session = f->session ? f->session : session;
    if (session != f->session)
        return;
    struct cairn_follow_cpu *c = &f->cpu[cpu];
    if (c->came.known && (n.place.buffer < c->came.buffer ||
                          (n.place.buffer == c->came.buffer && n.offset < c->came.end)))
        return;
    n.lost = !n.offset && size - head >= sizeof(struct wmi_buffer_header) &&
             cairn_get16(p + head + offsetof(struct wmi_buffer_header, buffer_flag)) & WMI_BUFFER_FLAG_BUFFER_LOST;
    n.at = f->trace.count;
    keep_line(&f->trace.items, &f->trace.count, &f->trace.room, text, length);
    *CAIRN_ADD(f->waiting) = n;
    c->came = n.place;
    c->there = true;
    f->trace_frames++;
}

static void take_frame(void *context, const struct cairn_line *l, const uint8_t *payload, const char *text, size_t size)
{
    struct cairn_follow *f = context;
    const uint32_t number = l->frame.number;
    if (l->frame.stream == CAIRN_STREAM_HEADER && number == 0 && f->frames && (f->ended || f->next > 1))
        cairn_follow_reset(f); /* another dump */
    if (f->ended)
        return;
    f->frames++;
    if (number >= f->next) {
        f->missing += number - f->next;
        f->next = number + (number < UINT32_MAX);
    }
    if (l->frame.stream == CAIRN_STREAM_TRACE)
        keep_trace(f, payload, l->frame.size, text, size);
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
    f->switches_now = f->records_now = 0;
    f->last_now = f->last;
    for (size_t i = 0; i < f->threads.count; i++)
        f->threads.items[i].busy_now = f->threads.items[i].runs_now = 0;
    for (unsigned c = 0; c < CAIRN_MAX_CPUS; c++)
        f->cpu[c].busy_now = f->cpu[c].idle_now = f->cpu[c].unknown_now = 0;
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

static void add_stint(struct cairn_follow *f, struct cairn_follow_cpu *c, const struct cairn_stint *stint)
{
    const uint64_t span = stint->to > stint->from ? (uint64_t)stint->to - (uint64_t)stint->from : 0;
    if (stint->kind == CAIRN_STINT_UNKNOWN) {
        c->unknown += span;
        c->unknown_now += span;
    } else if (stint->kind == CAIRN_STINT_IDLE) {
        c->idle += span;
        c->idle_now += span;
    } else {
        struct cairn_follow_thread *t = thread_of(f, stint->tid);
        c->busy += span;
        c->busy_now += span;
        t->busy += span;
        t->busy_now += span;
    }
}

static void add_switch(struct cairn_follow *f, struct cairn_follow_cpu *c, const struct cairn_switch *sw)
{
    struct cairn_stint stint;
    if (cairn_stints_next(&c->stints, sw, &stint))
        add_stint(f, c, &stint);
    f->switches++;
    f->switches_now++;
    if (!f->timed || sw->time < f->first)
        f->first = sw->time;
    if (!f->timed || sw->time > f->last)
        f->last = sw->time;
    if (!f->timed)
        f->last_now = sw->time;
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

/* `joins`: what seems to be missing in front of it is not. */
static void add_record(struct cairn_follow *f, struct cairn_follow_cpu *c, const struct cairn_log *log,
                       const struct cairn_item *item, bool joins)
{
    const struct cairn_output names = {.log = log};
    char function[CAIRN_SHOWN];
    f->records++;
    f->records_now++;
    add_count(&f->functions, cairn_out_function(&names, item->record->ip, function) ? function : "[unknown]");
    if (item->blame == CAIRN_BLAME_KNOWN)
        thread_of(f, item->tid)->records++;
    else if (item->rule == CAIRN_BY_TIME && ((item->blame == CAIRN_BLAME_LOSS && joins) ||
                                             (item->blame == CAIRN_BLAME_LAST && c->stints.has_last)))
        find_thread(f, c, log, item->time);
}

static void remember(struct cairn_follow *f, struct cairn_follow_cpu *c, const struct cairn_log *log,
                     const struct cairn_switch *sw)
{
    const bool hole = sw->hole != CAIRN_NO_HOLE;
    if (c->orphans && !hole && sw->time > c->orphaned && may_be(log, sw->old_tid))
        thread_of(f, sw->old_tid)->records += c->orphans;
    c->orphans = 0;
    c->switches++;
    c->recent[c->switches % CAIRN_FOLLOW_RECENT] = (struct cairn_follow_recent){sw->time, sw->old_tid, hole};
}

/* Where this part joins the one before, what seems to be missing in front of its first buffer is not. */
static void add_cpu(struct cairn_follow *f, const struct cairn_log *log, uint32_t number)
{
    struct cairn_follow_cpu *c = &f->cpu[number];
    struct cairn_lane lane;
    const struct cairn_item *item;
    uint32_t holes = 0;
    cairn_lane_init(&lane, log, number, cairn_prefers_compact(log), CAIRN_BY_FORMAT);
    while ((item = cairn_lane_next(&lane)) != NULL) {
        if (item->kind == CAIRN_ITEM_HOLE)
            holes++;
        if (item->kind == CAIRN_ITEM_SWITCH) {
            struct cairn_switch sw = item->sw;
            if (c->joined && holes <= 1)
                sw.hole = CAIRN_NO_HOLE;
            c->joined = false;
            f->gaps += sw.hole != CAIRN_NO_HOLE;
            remember(f, c, log, &sw);
            add_switch(f, c, &sw);
        }
        if (item->kind == CAIRN_ITEM_RECORD)
            add_record(f, c, log, item, c->joined && holes <= 1);
    }
    cairn_lane_free(&lane);
}

static void add_log(struct cairn_follow *f, struct cairn_log *log)
{
    if (log->number != f->session && f->session)
        cairn_log_select(log, f->session);
    f->hz = log->session.hz ? log->session.hz : TRACE_CLOCK_HZ;
    f->emulated |= cairn_slice_is(cairn_key(&log->text, "ds.emulated"), "1");
    for (uint32_t c = 0; c < log->cpus; c++)
        add_cpu(f, log, c);
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
    for (unsigned c = 0; c < CAIRN_MAX_CPUS; c++)
        f->cpu[c].joined = false;
    bool begun[CAIRN_MAX_CPUS] = {false};
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
    if ((size || all) && cairn_log_read(log, &input, &(struct cairn_choice){0}, refusal) == 0) {
        if (size)
            begin_now(f);
        add_log(f, log);
        cairn_log_free(log);
    }
    free(log);
    free(text);
}

void cairn_follow_mark(struct cairn_follow *f)
{
    f->stale = true;
}
