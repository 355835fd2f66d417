/* SPDX-License-Identifier: MIT */
/*
 * A folder in the Common Trace Format: the metadata, and a stream for each CPU. One packet of each stream is in memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tools/cairn/base/names.h"
#include "tools/cairn/export/ctf/ctf.h"
#include "tools/cairn/export/folder.h"
#include "tools/cairn/log/etl/event_text.h"
#include "tools/cairn/log/locks.h"
#include "tools/cairn/model/filter.h"
#include "tools/pebs/pebs.h"
#include "trace/wire/spinlock.h"

struct ctf {
    struct cairn_ctf_stream stream[CAIRN_CPUS_MOST];
    const struct cairn_hole *counted[CAIRN_CPUS_MOST]; /* the last place where the kernel lost what it counted */
    bool named;                                        /* the threads are told */
};

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

static void comm(struct cairn_output *o, struct cairn_ctf_stream *s, bool known, uint32_t tid)
{
    const struct cairn_name *n = known && tid ? cairn_find_name(&o->log->text, tid) : NULL;
    if (n)
        cairn_ctf_slice(s, n->name);
    else
        cairn_ctf_text(s, known && !tid ? "[idle]" : NULL);
}

static void address(struct cairn_output *o, struct cairn_ctf_stream *s, uint64_t at)
{
    char text[CAIRN_SHOWN];
    cairn_ctf_number(s, at, 8);
    cairn_ctf_text(s, cairn_out_function(o, at, text));
}

static void signed64(struct cairn_ctf_stream *s, bool told, int64_t value, int64_t otherwise)
{
    cairn_ctf_number(s, (uint64_t)(told ? value : otherwise), 8);
}

static void thread(struct cairn_output *o, struct cairn_ctf_stream *s, bool known, uint32_t tid)
{
    signed64(s, known, tid, CAIRN_CTF_NO_NUMBER);
    comm(o, s, known, tid);
}

static void threads(struct cairn_output *o, struct cairn_ctf_stream *s, int64_t ns)
{
    struct ctf *c = o->state;
    c->named = true;
    for (size_t i = 0; i < o->log->text.names.count; i++) {
        const struct cairn_name *n = &o->log->text.names.items[i];
        cairn_ctf_open(s, CAIRN_CTF_THREAD, ns);
        cairn_ctf_number(s, n->tid, 4);
        cairn_ctf_slice(s, n->name);
        cairn_ctf_number(s, (uint32_t)n->base, 4);
        cairn_ctf_close(s);
    }
}

/* An event of the CPU; the names of the threads come before the first. */
static struct cairn_ctf_stream *open_event(struct cairn_output *o, uint32_t cpu, enum cairn_ctf_event event, int64_t ns)
{
    struct ctf *c = o->state;
    struct cairn_ctf_stream *s = &c->stream[cpu];
    if (!c->named)
        threads(o, s, ns);
    cairn_ctf_open(s, event, ns);
    return s;
}

static struct cairn_ctf_stream *open_at(struct cairn_output *o, const struct cairn_item *item, int64_t time,
                                        enum cairn_ctf_event event)
{
    return open_event(o, item->cpu, event, cairn_out_ns(o, time));
}

/* ---- the trace -------------------------------------------------------------------------------------------------- */

static bool own(const char *start, size_t size)
{
    return size >= sizeof(CAIRN_CTF_MARK) - 1 && memcmp(start, CAIRN_CTF_MARK, sizeof(CAIRN_CTF_MARK) - 1) == 0;
}

#define FILES_BESIDE 16u /* open, beside the streams */

/* A stream of each CPU stays open, and these may be more than files are usually allowed. Where more are not, opening
 * one says so. */
static void allow_files(uint32_t cpus)
{
    struct rlimit limit;
    const rlim_t wanted = cpus + FILES_BESIDE;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void begin(struct cairn_output *o)
{
    struct ctf *c = o->state;
    int64_t time;
    const uint64_t begins = cairn_out_begins(o, &time) ? cairn_ctf_clock(cairn_out_ns(o, time)) : 0;
    cairn_ctf_metadata(o);
    allow_files(o->log->cpus);
    for (uint32_t cpu = 0; cpu < o->log->cpus; cpu++) {
        const struct cairn_cpu *from = &o->log->cpu[cpu];
        struct cairn_ctf_stream *s = &c->stream[cpu];
        s->cpu = cpu;
        s->begins = begins;
        s->file = cairn_folder_part(o, cpu);
        if (!s->file)
            s->error = -errno;
        for (size_t i = 0; i < from->holes.count; i++) {
            const uint8_t kind = from->holes.items[i].kind;
            if (kind == CAIRN_HOLE_LOST || kind == CAIRN_HOLE_LOST_HERE || kind == CAIRN_HOLE_MAYBE_LOST)
                c->counted[cpu] = &from->holes.items[i];
        }
    }
}

/* Linux's state of the thread that leaves. The forms that tell none are of the idle threads, which can always run on.
 * Where a state cannot be told from a reason (raw), most likely it waits. */
static unsigned previous_state(const struct cairn_switch *sw)
{
    if (!sw->detailed)
        return CAIRN_LINUX_RUNNING;
    return sw->raw ? CAIRN_LINUX_INTERRUPTIBLE : cairn_linux_state(sw->state);
}

static void on_switch(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_switch *sw = &item->sw;
    struct cairn_ctf_stream *s = open_at(o, item, sw->time, CAIRN_CTF_SWITCH);
    const bool told = sw->detailed && !sw->raw, waits = told && sw->state == KTHREAD_WAITING;
    const bool waited = sw->form == CAIRN_FORM_FULL || sw->form == CAIRN_FORM_EVENT;
    comm(o, s, true, sw->old_tid);
    cairn_ctf_number(s, sw->old_tid, 4);
    cairn_ctf_number(s, (uint16_t)(sw->detailed ? sw->priority : CAIRN_CTF_NO_PRIORITY), 2);
    cairn_ctf_number(s, previous_state(sw), 1);
    comm(o, s, sw->new_known, sw->new_tid);
    signed64(s, sw->new_known, sw->new_tid, CAIRN_CTF_NO_NUMBER);
    cairn_ctf_number(s, sw->form, 1);
    cairn_ctf_number(s, told ? sw->state : sw->detailed ? CAIRN_CTF_RAW_STATE : CAIRN_CTF_NO_STATE, 2);
    cairn_ctf_number(s, waits || (sw->detailed && sw->raw) ? sw->reason : CAIRN_CTF_NO_STATE, 2);
    signed64(s, waited, sw->wait, CAIRN_CTF_NO_NUMBER);
    cairn_ctf_close(s);
}

static void record(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_record *r = item->record;
    const bool known = item->blame == CAIRN_BLAME_KNOWN;
    struct cairn_ctf_stream *s = open_at(o, item, r->time, CAIRN_CTF_SAMPLE);
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field field;
    uint16_t words = 0;
    char name[CAIRN_PEBS_NAME];
    address(o, s, r->ip);
    cairn_ctf_number(s, r->timed, 1);
    cairn_ctf_number(s, r->after, 1);
    thread(o, s, known, item->tid);
    cairn_ctf_number(s, item->blame, 1);
    cairn_ctf_number(s, r->epoch, 4);
    cairn_ctf_number(s, r->format, 1);
    cairn_ctf_number(s, r->address, 8);
    for (cairn_pebs_walk(&walk, r->format, r->at, r->size); cairn_pebs_next(&walk, &field);)
        words++; /* a record is at most 64 KiB */
    cairn_ctf_number(s, words, 2);
    for (cairn_pebs_walk(&walk, r->format, r->at, r->size); cairn_pebs_next(&walk, &field);) {
        cairn_ctf_text(s, cairn_pebs_name(name, &field));
        cairn_ctf_number(s, field.value, 8);
    }
    cairn_ctf_close(s);
}

/* Of a drain, its last fields: what it says is lost. */
static void close_drain(struct cairn_ctf_stream *s, uint64_t lost)
{
    const bool counted = lost != CAIRN_DS_LOST_UNKNOWN;
    cairn_ctf_number(s, counted ? lost : 0, 8);
    cairn_ctf_number(s, !counted, 1);
    cairn_ctf_close(s);
    cairn_ctf_discarded(s, counted ? lost : 0);
}

static void epoch(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_epoch *e = item->epoch;
    struct cairn_ctf_stream *s = open_at(o, item, item->time, CAIRN_CTF_DRAIN);
    cairn_ctf_number(s, e->number, 4);
    cairn_ctf_number(s, e->reason, 1);
    cairn_ctf_number(s, e->records, 4);
    cairn_ctf_number(s, e->bytes_seen == e->record_bytes, 1);
    close_drain(s, e->lost);
}

static void branch_drain(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_bts_drain *d = &item->branches->drain;
    struct cairn_ctf_stream *s = open_at(o, item, item->time, CAIRN_CTF_BRANCH_DRAIN);
    cairn_ctf_number(s, d->number, 4);
    cairn_ctf_number(s, d->reason, 1);
    thread(o, s, d->reason != CAIRN_DS_START, d->tid);
    cairn_ctf_number(s, d->record_bytes / CAIRN_BTS_BYTES, 4);
    cairn_ctf_number(s, !d->interrupting, 1);
    close_drain(s, d->lost);
}

static void branches(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_bts_step *step = item->branches;
    if (!step->count)
        branch_drain(o, item);
    for (uint32_t i = 0; i < step->count; i++) {
        const struct cairn_branch b = cairn_bts_step_record(step, i);
        struct cairn_ctf_stream *s = open_at(o, item, item->time, CAIRN_CTF_BRANCH);
        cairn_ctf_number(s, step->drain.number, 4);
        cairn_ctf_number(s, step->first + i, 4);
        thread(o, s, true, step->drain.tid);
        address(o, s, b.from);
        address(o, s, b.to);
        cairn_ctf_number(s, b.flags, 8);
        cairn_ctf_close(s);
    }
}

static void lock(struct cairn_output *o, const struct cairn_item *item, const struct cairn_held *held)
{
    const struct wmi_spinlock *l = &held->is;
    struct cairn_ctf_stream *s = open_at(o, item, item->time, CAIRN_CTF_LOCK);
    char name[CAIRN_SHOWN];
    cairn_ctf_number(s, l->spin_lock_address, 8);
    cairn_ctf_text(s, cairn_find_symbol(&o->log->text, l->spin_lock_address)
                          ? cairn_show_lock(name, o->log, l->spin_lock_address, CAIRN_SHOWN - 1)
                          : NULL);
    address(o, s, l->caller_address);
    cairn_ctf_number(s, l->thread_id, 4);
    comm(o, s, true, l->thread_id);
    cairn_ctf_text(s, cairn_lock_mode_name(l->flags & WMI_SPINLOCK_MODE_MASK));
    signed64(s, held->timed, held->timed ? cairn_out_ns(o, held->acquired) : 0, CAIRN_CTF_NOT_TOLD);
    signed64(s, held->timed, held->timed ? cairn_out_ns(o, held->released) : 0, CAIRN_CTF_NOT_TOLD);
    cairn_ctf_number(s, l->wait_time_in_cycles, 8);
    cairn_ctf_number(s, l->spin_count, 4);
    cairn_ctf_number(s, l->interrupt_count, 4);
    cairn_ctf_number(s, l->irql, 1);
    cairn_ctf_number(s, l->acquire_depth, 4);
    cairn_ctf_number(s, (l->flags & WMI_SPINLOCK_EXECUTE_DPC) != 0, 1);
    cairn_ctf_number(s, (l->flags & WMI_SPINLOCK_EXECUTE_ISR) != 0, 1);
    cairn_ctf_close(s);
}

static void event(struct cairn_output *o, const struct cairn_item *item, const struct cairn_live *live)
{
    struct cairn_ctf_stream *s = open_at(o, item, item->time, CAIRN_CTF_EVENT);
    char text[CAIRN_EVENT_TEXT];
    const bool hooked = item->event->hook != CAIRN_NO_HOOK;
    cairn_ctf_number(s, hooked ? item->event->hook : UINT32_MAX, 4);
    cairn_ctf_text(s, cairn_event_text(text, o->log, item->event, live));
    cairn_ctf_close(s);
}

/* What the kernel lost on this CPU and counted; 0 where it does not say, and of a part of the CPU's trace. */
static uint64_t events_lost(const struct cairn_output *o, uint32_t cpu)
{
    const struct cairn_cpu_end *end = &o->log->cpu[cpu].end;
    return end->events_known && cairn_filter_cpu(cpu) && !cairn_filter_narrow() ? end->events[CAIRN_LOST] : 0;
}

static void lost(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_hole *h = item->hole;
    struct ctf *c = o->state;
    struct cairn_ctf_stream *s = open_event(o, item->cpu, CAIRN_CTF_LOST, CAIRN_CTF_NOT_TOLD);
    char text[CAIRN_SHOWN];
    const bool buffers = h->kind == CAIRN_HOLE_BUFFERS || h->kind == CAIRN_HOLE_OVERWRITTEN;
    const bool bytes = h->kind == CAIRN_HOLE_BYTES, stopped = h->kind == CAIRN_HOLE_STOPPED;
    const bool since = stopped && h->since != INT64_MIN, until = stopped && h->until != INT64_MAX;
    cairn_ctf_number(s, h->kind, 1);
    cairn_ctf_text(s, cairn_show_hole(text, o->log, h));
    signed64(s, buffers || bytes, h->buffer, CAIRN_CTF_NO_NUMBER);
    signed64(s, buffers, h->buffers, CAIRN_CTF_NO_NUMBER);
    signed64(s, bytes, (int64_t)h->bytes, CAIRN_CTF_NO_NUMBER);
    signed64(s, since, since ? cairn_out_ns(o, h->since) : 0, CAIRN_CTF_NOT_TOLD);
    signed64(s, until, until ? cairn_out_ns(o, h->until) : 0, CAIRN_CTF_NOT_TOLD);
    cairn_ctf_close(s);
    if (h == c->counted[item->cpu])
        cairn_ctf_discarded(s, events_lost(o, item->cpu));
}

static int end(struct cairn_output *o)
{
    struct ctf *c = o->state;
    int64_t time;
    const uint64_t ends = cairn_out_ends(o, &time) ? cairn_ctf_clock(cairn_out_ns(o, time)) : 0;
    int error = 0;
    if (!c->named && o->log->cpus) /* nothing happened */
        threads(o, &c->stream[0], 0);
    for (uint32_t cpu = 0; cpu < o->log->cpus; cpu++) {
        struct cairn_ctf_stream *s = &c->stream[cpu];
        if (!c->counted[cpu]) /* nowhere in particular */
            cairn_ctf_discarded(s, events_lost(o, cpu));
        const int e = cairn_ctf_end(s, ends);
        error = error ? error : e;
    }
    return error;
}

static void free_streams(struct cairn_output *o)
{
    struct ctf *c = o->state;
    for (uint32_t cpu = 0; cpu < CAIRN_CPUS_MOST; cpu++) {
        if (c->stream[cpu].file)
            fclose(c->stream[cpu].file);
        free(c->stream[cpu].items);
    }
}

const struct cairn_writer cairn_writer_ctf = {
    .name = "ctf",
    .summary = "folder in the Common Trace Format 1.8, for babeltrace2 and Trace Compass",
    .state = sizeof(struct ctf),
    .needs_path = true,
    .folder = "metadata",
    .mark = CAIRN_CTF_MARK,
    .parts = "cpu_",
    .own = own,
    .begin = begin,
    .on_switch = on_switch,
    .record = record,
    .epoch = epoch,
    .branches = branches,
    .lock = lock,
    .event = event,
    .lost = lost,
    .end = end,
    .free = free_streams,
};
