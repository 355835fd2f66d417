/* SPDX-License-Identifier: MIT */
/* One JSON object on each line: docs/how-to/export.md. */
#include <inttypes.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/error.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/event/etl_layout.h"
#include "tools/cairn/export/json.h"
#include "tools/cairn/export/json_provider.h"
#include "tools/cairn/export/writer.h"
#include "tools/cairn/log/clock.h"
#include "tools/cairn/log/etl/event_text.h"
#include "tools/cairn/log/locks.h"
#include "tools/cairn/log/rundown.h"
#include "tools/cairn/model/filter.h"
#include "tools/cairn/model/loss.h"
#include "tools/pebs/pebs.h"
#include "trace/wire/spinlock.h"

#define FORMAT 1

struct json {
    struct cairn_json j;
    uint64_t switches, samples, drains, branch_drains, branches, locks, events, lost;
};

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

/* How every line begins. */
static struct cairn_json *line(struct cairn_output *o, const char *type)
{
    struct json *s = o->state;
    cairn_json_open(&s->j, NULL);
    cairn_json_text(&s->j, "type", type);
    return &s->j;
}

/* The same of something at a time on a CPU. */
static struct cairn_json *line_at(struct cairn_output *o, const char *type, int64_t time, uint32_t cpu)
{
    struct cairn_json *j = line(o, type);
    char text[CAIRN_SHOWN];
    cairn_json_number(j, "ns", cairn_out_ns(o, time));
    cairn_json_number(j, "cpu", cpu);
    if (cairn_clock == CAIRN_CLOCK_WALL)
        cairn_json_text(j, "time", cairn_show_moment(text, o->log, time));
    return j;
}

static void thread(struct cairn_output *o, const char *name, uint32_t tid)
{
    struct cairn_json *j = &((struct json *)o->state)->j;
    const struct cairn_name *n = tid ? cairn_find_name(&o->log->text, tid) : NULL;
    cairn_json_open(j, name);
    cairn_json_number(j, "tid", tid);
    if (n)
        cairn_json_slice(j, "name", n->name);
    cairn_json_close(j);
}

static void address(struct cairn_output *o, const char *name, const char *function, uint64_t at)
{
    struct cairn_json *j = &((struct json *)o->state)->j;
    char text[CAIRN_SHOWN];
    cairn_json_hex(j, name, at);
    if (cairn_out_function(o, at, text))
        cairn_json_text(j, function, text);
}

static void hook(struct cairn_json *j, uint32_t number)
{
    char text[16];
    snprintf(text, sizeof(text), "%04" PRIX32 "H", number);
    cairn_json_text(j, "hook", text);
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

static bool own(const char *start, size_t size)
{
    static const char begins[] = "{\"type\":\"trace\"";
    return size >= sizeof(begins) - 1 && memcmp(start, begins, sizeof(begins) - 1) == 0;
}

static void tell_loss(void *to, const char *text)
{
    cairn_json_text(to, NULL, text);
}

static void begin(struct cairn_output *o)
{
    char bad[CAIRN_SHOWN_END], began[CAIRN_DATE_TEXT], number[32];
    int64_t unix_ns;
    struct json *s = o->state;
    const struct cairn_log *log = o->log;
    s->j.to = o->file;
    struct cairn_json *j = line(o, "trace");
    cairn_json_number(j, "format", FORMAT);
    cairn_json_text(j, "cairn", CAIRN_VERSION);
    cairn_json_number(j, "session", log->number);
    cairn_json_number(j, "cpus", log->cpus);
    cairn_json_bool(j, "from_session_start", log->session.start_known);
    if (log->session.stop_known)
        cairn_json_number(j, "ends_ns", cairn_out_ns(o, log->session.stop));
    if (cairn_out_wall(o, &unix_ns, began)) {
        snprintf(number, sizeof(number), "%" PRId64, unix_ns);
        cairn_json_text(j, "began", began);
        cairn_json_text(j, "began_unix_ns", number);
    }
    if (cairn_out_switches_from(o))
        cairn_json_text(j, "switches_from", cairn_out_switches_from(o));
    if (cairn_filter_on())
        cairn_json_text(j, "only", cairn_filter_text());
    if (cairn_has_key(&log->text, "ds.emulated"))
        cairn_json_bool(j, "emulated_ds", cairn_slice_is(cairn_key(&log->text, "ds.emulated"), "1"));
    if (cairn_show_bad_end(bad, log))
        cairn_json_text(j, "bad_end", bad);
    cairn_json_open_list(j, "losses");
    cairn_tell_losses(log, tell_loss, j);
    cairn_json_close_list(j);
    cairn_json_open(j, "keys");
    for (size_t i = 0; i < log->text.keys.count; i++) {
        const struct cairn_key *key = &log->text.keys.items[i];
        if (cairn_key_counts(&log->text, key))
            cairn_json_key(j, key->name, key->value);
    }
    cairn_json_close(j);
    cairn_json_end(j);
    for (size_t i = 0; i < log->text.names.count; i++) {
        const struct cairn_name *n = &log->text.names.items[i];
        j = line(o, "thread");
        cairn_json_number(j, "tid", n->tid);
        cairn_json_slice(j, "name", n->name);
        cairn_json_number(j, "base_priority", n->base);
        cairn_json_end(j);
    }
}

/* What Windows writes of a switch in 0524H alone. From version 3 on there is more in the byte of the wait mode. */
static void windows(struct cairn_json *j, const struct cairn_event *e)
{
    struct wmi_contextswap w;
    memcpy(&w, e->payload, sizeof(w));
    cairn_json_number(j, "new_priority", w.new_thread_priority);
    cairn_json_text(j, "wait_mode", w.old_thread_wait_mode & 1 ? "user" : "kernel");
    cairn_json_number(j, "ideal_cpu", w.old_thread_ideal_processor);
}

static void on_switch(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_switch *sw = &item->sw;
    struct cairn_json *j = line_at(o, "switch", sw->time, item->cpu);
    ((struct json *)o->state)->switches++;
    thread(o, "old", sw->old_tid);
    if (sw->new_known)
        thread(o, "new", sw->new_tid);
    cairn_json_text(j, "form", cairn_form_name(sw->form));
    if (sw->detailed) {
        if (sw->raw)
            cairn_json_number(j, "state_or_reason", sw->reason);
        else
            cairn_json_text(j, "state", cairn_state_name(sw->state));
        if (!sw->raw && sw->state == KTHREAD_WAITING)
            cairn_json_text(j, "reason", cairn_reason_name(sw->reason));
        cairn_json_number(j, "priority", sw->priority);
    }
    if (sw->form == CAIRN_FORM_FULL || sw->form == CAIRN_FORM_EVENT) {
        const bool most = sw->form == CAIRN_FORM_FULL && sw->wait == CCSWAP_MASK(CCSWAP_FULL_WAIT_BITS);
        cairn_json_number(j, "new_waited_ticks", sw->wait);
        if (most)
            cairn_json_bool(j, "or_more", true);
    }
    if (sw->form == CAIRN_FORM_EVENT && o->log->etl && !o->log->own)
        windows(j, sw->event);
    cairn_json_end(j);
}

static void record(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_record *r = item->record;
    struct cairn_json *j = line_at(o, "sample", r->time, item->cpu);
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field field;
    char name[CAIRN_PEBS_NAME];
    ((struct json *)o->state)->samples++;
    cairn_json_bool(j, "timed", r->timed);
    address(o, "ip", "function", r->ip);
    if (r->after)
        cairn_json_bool(j, "ip_is_after", true);
    if (item->blame == CAIRN_BLAME_KNOWN)
        thread(o, "thread", item->tid);
    else
        cairn_json_text(j, "no_thread", cairn_blame_why(item->blame));
    cairn_json_number(j, "epoch", r->epoch);
    cairn_json_number(j, "format", r->format);
    cairn_json_hex(j, "address", r->address);
    cairn_json_open(j, "record");
    cairn_pebs_walk(&walk, r->format, r->at, r->size);
    while (cairn_pebs_next(&walk, &field))
        cairn_json_hex(j, cairn_pebs_name(name, &field), field.value);
    cairn_json_close(j);
    cairn_json_end(j);
}

/* Of a drain: as it has it. */
static void lost_records(struct cairn_json *j, uint64_t lost)
{
    if (lost == CAIRN_DS_LOST_UNKNOWN)
        cairn_json_bool(j, "lost_unknown", true);
    else
        cairn_json_count(j, "lost", lost);
}

static void epoch(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_epoch *e = item->epoch;
    struct cairn_json *j = line_at(o, "drain", item->time, item->cpu);
    ((struct json *)o->state)->drains++;
    cairn_json_number(j, "epoch", e->number);
    cairn_json_text(j, "reason", cairn_drain_name(e->reason));
    cairn_json_number(j, "records", e->records);
    cairn_json_bool(j, "complete", e->bytes_seen == e->record_bytes);
    lost_records(j, e->lost);
    cairn_json_end(j);
}

static void branch_drain(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_bts_drain *d = &item->branches->drain;
    struct cairn_json *j = line_at(o, "branch_drain", item->time, item->cpu);
    ((struct json *)o->state)->branch_drains++;
    cairn_json_number(j, "epoch", d->number);
    cairn_json_text(j, "reason", cairn_drain_name(d->reason));
    if (d->reason != CAIRN_DS_START)
        thread(o, "thread", d->tid);
    cairn_json_number(j, "records", d->record_bytes / CAIRN_BTS_BYTES);
    cairn_json_bool(j, "circular", !d->interrupting);
    lost_records(j, d->lost);
    cairn_json_end(j);
}

static void branches(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_bts_step *step = item->branches;
    if (!step->count)
        branch_drain(o, item);
    for (uint32_t i = 0; i < step->count; i++) {
        const struct cairn_branch b = cairn_bts_step_record(step, i);
        struct cairn_json *j = line_at(o, "branch", item->time, item->cpu);
        ((struct json *)o->state)->branches++;
        cairn_json_number(j, "epoch", step->drain.number);
        cairn_json_number(j, "number", step->first + i);
        thread(o, "thread", step->drain.tid);
        address(o, "from", "from_function", b.from);
        address(o, "to", "to_function", b.to);
        cairn_json_hex(j, "flags", b.flags);
        cairn_json_end(j);
    }
}

static void lock(struct cairn_output *o, const struct cairn_item *item, const struct cairn_held *held)
{
    const struct wmi_spinlock *l = &held->is;
    struct cairn_json *j = line_at(o, "lock", item->time, item->cpu);
    char name[CAIRN_SHOWN];
    ((struct json *)o->state)->locks++;
    cairn_json_hex(j, "lock", l->spin_lock_address);
    if (cairn_find_symbol(&o->log->text, l->spin_lock_address))
        cairn_json_text(j, "name", cairn_show_lock(name, o->log, l->spin_lock_address, CAIRN_SHOWN - 1));
    address(o, "caller", "function", l->caller_address);
    thread(o, "thread", l->thread_id);
    cairn_json_text(j, "mode", cairn_lock_mode_name(l->flags & WMI_SPINLOCK_MODE_MASK));
    if (held->timed) {
        cairn_json_number(j, "acquired_ns", cairn_out_ns(o, held->acquired));
        cairn_json_number(j, "released_ns", cairn_out_ns(o, held->released));
    }
    cairn_json_count(j, "wait_cycles", l->wait_time_in_cycles);
    cairn_json_number(j, "spins", l->spin_count);
    cairn_json_number(j, "interrupts", l->interrupt_count);
    cairn_json_number(j, "irql", l->irql);
    cairn_json_number(j, "depth", l->acquire_depth);
    cairn_json_bool(j, "in_dpc", l->flags & WMI_SPINLOCK_EXECUTE_DPC);
    cairn_json_bool(j, "in_isr", l->flags & WMI_SPINLOCK_EXECUTE_ISR);
    cairn_json_end(j);
}

/* Of a WPP message what its flags say it has. */
static void message(struct cairn_json *j, const struct cairn_event *e)
{
    char guid[CAIRN_GUID_TEXT];
    cairn_json_open(j, "message");
    cairn_json_number(j, "number", e->id);
    if (e->provider)
        cairn_json_text(j, "guid", cairn_guid_text(guid, e->provider));
    if (e->has_component)
        cairn_json_number(j, "component", e->component);
    if (e->has_sequence)
        cairn_json_number(j, "sequence", e->sequence);
    cairn_json_close(j);
    if (e->tid == CAIRN_NO_TID)
        return;
    cairn_json_number(j, "pid", e->pid);
    cairn_json_number(j, "tid", e->tid);
}

struct members {
    struct cairn_json *j;
    bool any;
};

static void member(void *to, const char *name, const char *value)
{
    struct members *m = to;
    if (!m->any)
        cairn_json_open_list(m->j, "fields");
    m->any = true;
    cairn_json_open(m->j, NULL);
    cairn_json_text(m->j, "name", name);
    cairn_json_text(m->j, "value", value);
    cairn_json_close(m->j);
}

/* In their order: names may come twice. Of Windows's events that are not wholly taken apart the bytes as well, so that
 * somebody else can. */
static void fields(const struct cairn_output *o, struct cairn_json *j, const struct cairn_event *e, bool live)
{
    struct members m = {.j = j};
    const enum cairn_fit fit = cairn_event_fields(o->log, e, member, &m);
    if (m.any)
        cairn_json_close_list(j);
    if (fit != CAIRN_FIT_UNKNOWN)
        cairn_json_bool(j, "fields_fit", fit == CAIRN_FIT_WHOLE);
    if (fit != CAIRN_FIT_WHOLE && !live && o->log->etl && !o->log->own)
        cairn_json_payload(j, e);
}

/* Whose it is, and its call stack, the innermost place first. */
static void sample(struct cairn_output *o, int64_t time)
{
    struct cairn_json *j = &((struct json *)o->state)->j;
    uint64_t frames[CAIRN_FRAMES];
    char place[CAIRN_SHOWN];
    bool cut;
    const unsigned depth = cairn_sample_frames(o->sample, frames, &cut);
    thread(o, "thread", o->sample->tid);
    if (o->sample->pid != CAIRN_NO_TID)
        cairn_json_number(j, "pid", o->sample->pid);
    cairn_json_hex(j, "ip", o->sample->ip);
    cairn_json_text(j, "place", cairn_sample_place(place, o->log, o->sample, time, o->sample->ip));
    if (!o->sample->stack)
        return;
    cairn_json_open_list(j, "stack");
    for (unsigned i = 0; i < depth; i++)
        cairn_json_text(j, NULL, cairn_sample_place(place, o->log, o->sample, time, frames[i]));
    cairn_json_close_list(j);
    if (cut)
        cairn_json_bool(j, "stack_cut", true);
}

static void event(struct cairn_output *o, const struct cairn_item *item, const struct cairn_live *live)
{
    struct cairn_json *j = line_at(o, "event", item->time, item->cpu);
    char text[CAIRN_EVENT_TEXT];
    ((struct json *)o->state)->events++;
    if (item->event->hook != CAIRN_NO_HOOK)
        hook(j, item->event->hook);
    cairn_json_text(j, "text", cairn_event_text(text, o->log, item->event, live));
    if (o->sample)
        sample(o, item->time);
    if (item->event->header == ETL_MESSAGE)
        message(j, item->event);
    cairn_json_provider(j, o->log, item->event);
    fields(o, j, item->event, live != NULL);
    cairn_json_end(j);
}

static void lost(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_hole *h = item->hole;
    char text[CAIRN_SHOWN];
    struct cairn_json *j = line(o, "lost");
    ((struct json *)o->state)->lost++;
    cairn_json_number(j, "cpu", item->cpu);
    cairn_json_text(j, "kind", cairn_hole_name(h->kind));
    cairn_json_text(j, "text", cairn_show_hole(text, o->log, h));
    if (h->kind == CAIRN_HOLE_BYTES || h->kind == CAIRN_HOLE_BUFFERS || h->kind == CAIRN_HOLE_OVERWRITTEN)
        cairn_json_number(j, "first_buffer", h->buffer);
    if (h->kind == CAIRN_HOLE_BUFFERS || h->kind == CAIRN_HOLE_OVERWRITTEN)
        cairn_json_number(j, "buffers", h->buffers);
    if (h->kind == CAIRN_HOLE_BYTES)
        cairn_json_count(j, "bytes", h->bytes);
    if (h->kind == CAIRN_HOLE_STOPPED && h->until != INT64_MAX)
        cairn_json_number(j, "until_ns", cairn_out_ns(o, h->until));
    if (h->kind == CAIRN_HOLE_STOPPED && h->since != INT64_MIN)
        cairn_json_number(j, "since_ns", cairn_out_ns(o, h->since));
    cairn_json_end(j);
}

static int end(struct cairn_output *o)
{
    const struct json *s = o->state;
    struct cairn_json *j = line(o, "end");
    cairn_json_count(j, "switches", s->switches);
    cairn_json_count(j, "samples", s->samples);
    cairn_json_count(j, "drains", s->drains);
    cairn_json_count(j, "branch_drains", s->branch_drains);
    cairn_json_count(j, "branches", s->branches);
    cairn_json_count(j, "locks", s->locks);
    cairn_json_count(j, "events", s->events);
    cairn_json_count(j, "lost", s->lost);
    cairn_json_count(j, "missing_frames", o->log->frames.missing_frames);
    cairn_json_count(j, "damaged_frames", cairn_damaged_frames(o->log));
    cairn_json_end(j);
    return 0;
}

const struct cairn_writer cairn_writer_json = {
    .name = "json",
    .summary = "one object per line for each switch, PEBS record, drain, branch, spin lock, event and gap "
               "(docs/how-to/export.md)",
    .each = true,
    .samples = true,
    .state = sizeof(struct json),
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
};
