/* SPDX-License-Identifier: MIT */
/*
 * A Perfetto trace (docs/how-to/export.md), like that of a Linux kernel: each switch is a sched_switch, each PEBS
 * record a profiler's sample. What Linux has no events for becomes TrackEvents, on tracks of each CPU. Packets are
 * written as their events come; the viewer sorts them by time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/error.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/export/perfetto/writer.h"
#include "tools/cairn/log/etl/event_text.h"
#include "tools/cairn/log/locks.h"
#include "tools/cairn/model/filter.h"
#include "trace/wire/spinlock.h"

#define LANES 16u /* of spin locks held at once on a CPU; each one above has a track of its own */

enum track {
    TRACK_ROOT = 1,
    TRACK_EPOCHS,
    TRACK_FILL,
    TRACK_LOST_RECORDS,
    TRACK_MISSING,
    TRACK_HOLES,
    TRACK_EVENTS,
    TRACK_LOCKS
};

struct lane {        /* a CPU's */
    uint32_t tracks; /* bit: enum track, that it is described */
    bool has_epoch;
    uint32_t next_epoch;
    int64_t since; /* when that began */
    uint32_t fill_epoch;
    uint64_t fill, lost_records, holes;
    uint32_t lock_lanes; /* described */
    int64_t lock_end[LANES];
};

struct perfetto {
    struct lane cpu[CAIRN_CPUS_MOST];
    struct cairn_pf_sched sched;
    struct cairn_pf_stacks stacks;
    struct cairn_processes processes;
    uint32_t more_locks; /* tracks of one lock each */
    bool emulated;
    /* packed */
    uint8_t *packet;
    size_t room;
};

/* ---- packets ---------------------------------------------------------------------------------------------------- */

void cairn_pf_put(struct cairn_output *o, Pf__TracePacket *p, enum cairn_pf_sequence sequence)
{
    struct perfetto *s = o->state;
    uint8_t head[11] = {1 << 3 | 2}; /* Trace.packet: field 1, of a length */
    size_t n = 1;
    p->has_trusted_packet_sequence_id = true;
    p->trusted_packet_sequence_id = sequence;
    const size_t size = pf__trace_packet__get_packed_size(p);
    for (size_t left = size; n < sizeof(head); left >>= 7) {
        head[n++] = (uint8_t)((left & 0x7F) | (left > 0x7F ? 0x80 : 0));
        if (left <= 0x7F)
            break;
    }
    if (size > s->room) {
        free(s->packet);
        s->packet = cairn_alloc(s->room = 2 * size);
    }
    pf__trace_packet__pack(p, s->packet);
    fwrite(head, 1, n, o->file);
    fwrite(s->packet, 1, size, o->file);
}

struct cairn_processes *cairn_pf_processes(const struct cairn_output *o)
{
    return &((struct perfetto *)o->state)->processes;
}

/* What this format writes begins with the system's name. */
static bool own(const char *start, size_t size)
{
    size_t length = 0, at = 1;
    if (size < 4 || *start != (1 << 3 | 2))
        return false;
    for (unsigned shift = 0; at < size && shift < 21; shift += 7) {
        length |= (size_t)(start[at] & 0x7F) << shift;
        if (!(start[at++] & 0x80))
            break;
    }
    if (length > size - at)
        return false;
    Pf__TracePacket *p = pf__trace_packet__unpack(NULL, length, (const uint8_t *)start + at);
    const bool is = p && p->system_info && p->system_info->utsname && p->system_info->utsname->sysname &&
                    strcmp(p->system_info->utsname->sysname, CAIRN_PF_SYSTEM) == 0;
    if (p)
        pf__trace_packet__free_unpacked(p, NULL);
    return is;
}

/* ---- tracks ----------------------------------------------------------------------------------------------------- */

static uint64_t uuid_of(enum track track, uint32_t cpu, uint32_t number)
{
    return (uint64_t)track << 56 | (uint64_t)cpu << 32 | number;
}

static void put_track(struct cairn_output *o, uint64_t uuid, char *name, bool counter)
{
    Pf__TrackDescriptor t = PF__TRACK_DESCRIPTOR__INIT;
    Pf__CounterDescriptor c = PF__COUNTER_DESCRIPTOR__INIT;
    Pf__TracePacket p = PF__TRACE_PACKET__INIT;
    t.has_uuid = true;
    t.uuid = uuid;
    t.name = name;
    if (uuid != uuid_of(TRACK_ROOT, 0, 0)) {
        t.has_parent_uuid = true;
        t.parent_uuid = uuid_of(TRACK_ROOT, 0, 0);
    }
    if (counter) {
        c.has_unit = true;
        c.unit = PF__COUNTER_DESCRIPTOR__UNIT__UNIT_COUNT;
        t.counter = &c;
    }
    p.track_descriptor = &t;
    cairn_pf_put(o, &p, CAIRN_PF_EVENTS);
}

/* A CPU's track, described before its first event. */
static uint64_t track(struct cairn_output *o, enum track which, uint32_t cpu)
{
    static const char *const names[] = {
        [TRACK_EPOCHS] = "DS buffer epochs",
        [TRACK_FILL] = "DS buffer fill (records)",
        [TRACK_LOST_RECORDS] = "PEBS records lost",
        [TRACK_MISSING] = "missing",
        [TRACK_HOLES] = "places where something is missing",
        [TRACK_EVENTS] = "events",
    };
    struct perfetto *s = o->state;
    struct lane *l = &s->cpu[cpu];
    const bool model = s->emulated && (which == TRACK_EPOCHS || which == TRACK_FILL || which == TRACK_LOST_RECORDS);
    const bool arch = cairn_log_arch(o->log);
    char name[CAIRN_SHOWN];
    if (!(l->tracks & 1u << which)) {
        l->tracks |= 1u << which;
        const char *what = arch && which == TRACK_EPOCHS ? "PEBS buffer epochs"
                           : arch && which == TRACK_FILL ? "PEBS buffer fill (records)"
                                                         : names[which];
        snprintf(name, sizeof(name), "CPU %" PRIu32 " %s%s", cpu, what, model ? ", emulated" : "");
        put_track(o, uuid_of(which, cpu, 0), name,
                  which == TRACK_FILL || which == TRACK_LOST_RECORDS || which == TRACK_HOLES);
    }
    return uuid_of(which, cpu, 0);
}

struct notes { /* of an event: its arguments */
    Pf__DebugAnnotation item[16], *list[16];
    size_t count;
};

static Pf__DebugAnnotation *note(struct notes *n, const char *name)
{
    Pf__DebugAnnotation *a = &n->item[n->count];
    pf__debug_annotation__init(a);
    a->name = (char *)name;
    n->list[n->count++] = a;
    return a;
}

static void note_text(struct notes *n, const char *name, const char *text)
{
    note(n, name)->string_value = (char *)text;
}

static void note_number(struct notes *n, const char *name, uint64_t value)
{
    Pf__DebugAnnotation *a = note(n, name);
    a->has_uint_value = true;
    a->uint_value = value;
}

static void note_address(struct notes *n, const char *name, uint64_t value)
{
    Pf__DebugAnnotation *a = note(n, name);
    a->has_pointer_value = true;
    a->pointer_value = value;
}

static void note_bool(struct notes *n, const char *name, bool value)
{
    Pf__DebugAnnotation *a = note(n, name);
    a->has_bool_value = true;
    a->bool_value = value;
}

static void put_event(struct cairn_output *o, uint64_t uuid, int64_t time, Pf__TrackEvent *e, struct notes *notes)
{
    Pf__TracePacket p = PF__TRACE_PACKET__INIT;
    e->has_type = e->has_track_uuid = true;
    e->track_uuid = uuid;
    if (notes) {
        e->n_debug_annotations = notes->count;
        e->debug_annotations = notes->list;
    }
    p.has_timestamp = true;
    p.timestamp = cairn_pf_time(o, time);
    p.track_event = e;
    cairn_pf_put(o, &p, CAIRN_PF_EVENTS);
}

static void put_named(struct cairn_output *o, uint64_t uuid, int64_t time, Pf__TrackEvent__Type type,
                      const char *category, const char *name, struct notes *notes)
{
    Pf__TrackEvent e = PF__TRACK_EVENT__INIT;
    char *categories[] = {(char *)category};
    e.type = type;
    e.name = (char *)name;
    e.n_categories = category ? 1 : 0;
    e.categories = categories;
    put_event(o, uuid, time, &e, notes);
}

static void put_end(struct cairn_output *o, uint64_t uuid, int64_t time)
{
    put_named(o, uuid, time, PF__TRACK_EVENT__TYPE__TYPE_SLICE_END, NULL, NULL, NULL);
}

static void put_counter(struct cairn_output *o, enum track which, uint32_t cpu, int64_t time, uint64_t value)
{
    const uint64_t uuid = track(o, which, cpu);
    Pf__TrackEvent e = PF__TRACK_EVENT__INIT;
    e.type = PF__TRACK_EVENT__TYPE__TYPE_COUNTER;
    e.has_counter_value = true;
    e.counter_value = (int64_t)value;
    put_event(o, uuid, time, &e, NULL);
}

/* An instant of the whole trace. */
static void put_mark(struct cairn_output *o, int64_t time, const char *name)
{
    put_named(o, uuid_of(TRACK_ROOT, 0, 0), time, PF__TRACK_EVENT__TYPE__TYPE_INSTANT, "cairn", name, NULL);
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

static void begin(struct cairn_output *o)
{
    struct perfetto *s = o->state;
    const struct cairn_session *session = &o->log->session;
    char name[] = CAIRN_PF_SYSTEM;
    int64_t time;
    s->emulated = cairn_pf_emulated(o);
    cairn_pf_system(o);
    const bool known = cairn_out_begins(o, &time);
    cairn_pf_clocks(o, known ? time : 0);
    cairn_pf_threads(o);
    put_track(o, uuid_of(TRACK_ROOT, 0, 0), name, false);
    cairn_pf_sched_begin(o, &s->sched);
    if (known)
        put_mark(o, time, time > session->start ? "--from" : "the session begins");
    if (s->emulated)
        put_mark(o, known ? time : 0,
                 cairn_log_arch(o->log)
                     ? "architectural PEBS is emulated: its records are a model's, not the processor's"
                     : "the Debug Store is emulated: PEBS records are a model's, not the processor's");
}

/* ---- the Debug Store -------------------------------------------------------------------------------------------- */

static void on_switch(struct cairn_output *o, const struct cairn_item *item)
{
    cairn_pf_switch(o, &((struct perfetto *)o->state)->sched, item);
}

static void record(struct cairn_output *o, const struct cairn_item *item)
{
    struct perfetto *s = o->state;
    struct lane *l = &s->cpu[item->cpu];
    cairn_pf_sample(o, &s->stacks, item);
    /* when it came into the buffer is not known, or what is in there besides */
    if (!item->record->timed || !l->has_epoch || cairn_filter_by_thread())
        return;
    l->fill = l->fill_epoch == item->record->epoch ? l->fill + 1 : 1;
    l->fill_epoch = item->record->epoch;
    put_counter(o, TRACK_FILL, item->cpu, item->record->time, l->fill);
}

static void epoch(struct cairn_output *o, const struct cairn_item *item)
{
    struct perfetto *s = o->state;
    struct lane *l = &s->cpu[item->cpu];
    const struct cairn_epoch *e = item->epoch;
    const uint64_t uuid = track(o, TRACK_EPOCHS, item->cpu);
    const bool starts = e->reason == CAIRN_DS_START;
    const bool whole = !starts && l->has_epoch && l->next_epoch == e->number && l->since <= item->time;
    char name[CAIRN_SHOWN];
    struct notes n = {.count = 0};
    snprintf(name, sizeof(name), whole ? "epoch %" PRIu32 : "drain of epoch %" PRIu32, e->number);
    note_number(&n, "epoch", e->number);
    note_text(&n, "reason", cairn_drain_name(e->reason));
    note_number(&n, "records", e->records);
    note_bool(&n, "complete", e->bytes_seen == e->record_bytes);
    if (e->lost == CAIRN_DS_LOST_UNKNOWN)
        note_bool(&n, "lost_unknown", true);
    else
        note_number(&n, "lost", e->lost);
    if (whole)
        put_named(o, uuid, l->since, PF__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, "ds", name, NULL);
    put_named(o, uuid, item->time, whole ? PF__TRACK_EVENT__TYPE__TYPE_SLICE_END : PF__TRACK_EVENT__TYPE__TYPE_INSTANT,
              "ds",
              !starts                       ? name
              : e->format == DS_FORMAT_ARCH ? "architectural PEBS is turned on"
                                            : "the Debug Store is turned on",
              &n);
    l->has_epoch = true;
    l->next_epoch = starts ? e->number : e->number + 1;
    l->since = item->time;
    l->fill = 0;
    if (!cairn_filter_by_thread() && !cairn_filter_by_reason())
        put_counter(o, TRACK_FILL, item->cpu, item->time, 0);
    if (e->lost != CAIRN_DS_LOST_UNKNOWN) {
        l->lost_records += e->lost;
        put_counter(o, TRACK_LOST_RECORDS, item->cpu, item->time, l->lost_records);
        if (e->lost)
            cairn_pf_lost_samples(o, &s->stacks, item, e->lost);
    }
}

/* ---- the rest --------------------------------------------------------------------------------------------------- */

/* A track on which nothing overlaps the slice: the CPU's first such. What comes is later than what came before, by its
 * end. */
static uint64_t lock_track(struct cairn_output *o, uint32_t cpu, int64_t from, int64_t to)
{
    struct perfetto *s = o->state;
    struct lane *l = &s->cpu[cpu];
    char name[CAIRN_SHOWN];
    uint32_t i = 0;
    while (i < l->lock_lanes && l->lock_end[i] > from)
        i++;
    snprintf(name, sizeof(name), "CPU %" PRIu32 " spin locks", cpu);
    if (i == LANES) {
        const uint64_t uuid = uuid_of(TRACK_LOCKS, CAIRN_CPUS_MOST, ++s->more_locks);
        put_track(o, uuid, name, false);
        return uuid;
    }
    if (i == l->lock_lanes) {
        l->lock_lanes++;
        put_track(o, uuid_of(TRACK_LOCKS, cpu, i), name, false);
    }
    l->lock_end[i] = to;
    return uuid_of(TRACK_LOCKS, cpu, i);
}

static void lock(struct cairn_output *o, const struct cairn_item *item, const struct cairn_held *held)
{
    const struct wmi_spinlock *w = &held->is;
    const bool slice = held->timed && held->acquired <= held->released;
    const int64_t from = slice ? held->acquired : item->time, to = slice ? held->released : item->time;
    const uint64_t uuid = lock_track(o, item->cpu, from, to);
    char name[CAIRN_SHOWN], function[CAIRN_SHOWN], thread[CAIRN_SHOWN];
    struct notes n = {.count = 0};
    cairn_show_lock(name, o->log, w->spin_lock_address, CAIRN_SHOWN - 1);
    note_address(&n, "lock", w->spin_lock_address);
    note_address(&n, "caller", w->caller_address);
    if (cairn_out_function(o, w->caller_address, function))
        note_text(&n, "function", function);
    note_number(&n, "tid", w->thread_id);
    if (cairn_pf_name(o, w->thread_id, thread))
        note_text(&n, "thread", thread);
    note_text(&n, "mode", cairn_lock_mode_name(w->flags & WMI_SPINLOCK_MODE_MASK));
    note_number(&n, "wait_cycles", w->wait_time_in_cycles);
    note_number(&n, "spins", w->spin_count);
    note_number(&n, "interrupts", w->interrupt_count);
    note_number(&n, "irql", w->irql);
    note_number(&n, "depth", w->acquire_depth);
    note_bool(&n, "in_dpc", w->flags & WMI_SPINLOCK_EXECUTE_DPC);
    note_bool(&n, "in_isr", w->flags & WMI_SPINLOCK_EXECUTE_ISR);
    put_named(o, uuid, from, slice ? PF__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN : PF__TRACK_EVENT__TYPE__TYPE_INSTANT,
              "lock", name, &n);
    if (slice)
        put_end(o, uuid, to);
}

/* What its provider calls it, where the event brings that. */
static const char *provider_event(const struct cairn_log *log, const struct cairn_event *e,
                                  char name[CAIRN_VALUE_TEXT_MOST])
{
    struct cairn_provider provider;
    name[0] = '\0';
    if (cairn_provider_read(&provider, log, e))
        cairn_event_name(name, &provider);
    return name[0] ? name : "event";
}

static void event(struct cairn_output *o, const struct cairn_item *item, const struct cairn_live *live)
{
    char text[CAIRN_EVENT_TEXT], name[CAIRN_VALUE_TEXT_MOST], hook[16];
    struct notes n = {.count = 0};
    if (live && live->kind == CAIRN_LIVE_READY) {
        cairn_pf_ready(o, &((struct perfetto *)o->state)->sched, item, live);
        return;
    }
    if (o->sample)
        cairn_pf_profile_sample(o, &((struct perfetto *)o->state)->stacks, item);
    const uint64_t uuid = track(o, TRACK_EVENTS, item->cpu);
    const bool known = item->event->hook != CAIRN_NO_HOOK;
    snprintf(hook, sizeof(hook), "%04" PRIX32 "H", item->event->hook);
    if (known)
        note_text(&n, "hook", hook);
    note_text(&n, "text", cairn_event_text(text, o->log, item->event, live));
    put_named(o, uuid, item->time, PF__TRACK_EVENT__TYPE__TYPE_INSTANT, "event",
              live    ? cairn_live_name(live->kind)
              : known ? cairn_hook_name(item->event->hook)
                      : provider_event(o->log, item->event, name),
              &n);
}

static void lost(struct cairn_output *o, const struct cairn_item *item)
{
    struct perfetto *s = o->state;
    struct lane *l = &s->cpu[item->cpu];
    char text[CAIRN_SHOWN];
    const uint64_t uuid = track(o, TRACK_MISSING, item->cpu);
    put_named(o, uuid, item->time, PF__TRACK_EVENT__TYPE__TYPE_INSTANT, "missing",
              cairn_show_hole(text, o->log, item->hole), NULL);
    put_counter(o, TRACK_HOLES, item->cpu, item->time, ++l->holes);
    cairn_pf_gap(o, &s->sched, item);
    l->has_epoch = false;
}

static int end(struct cairn_output *o)
{
    struct perfetto *s = o->state;
    int64_t stop;
    const bool known = cairn_out_ends(o, &stop);
    cairn_pf_sched_end(o, &s->sched, known ? stop : INT64_MAX);
    if (known) {
        put_mark(o, stop, stop < o->log->session.stop ? "--until" : "the session ends");
        cairn_pf_clocks(o, stop);
    }
    return 0;
}

static void free_all(struct cairn_output *o)
{
    struct perfetto *s = o->state;
    free(s->packet);
    free(s->stacks.mapped);
    cairn_branches_free(&s->stacks.branches);
    cairn_processes_free(&s->processes);
}

const struct cairn_writer cairn_writer_perfetto = {
    .name = "perfetto",
    .samples = true,
    .each = true, /* between switches that are left, nobody seems to run */
    .summary = "file for ui.perfetto.dev: CPUs, threads and their waits, PEBS records as samples, spin locks, DS "
               "buffers, gaps (docs/how-to/export.md)",
    .binary = true,
    .state = sizeof(struct perfetto),
    .own = own,
    .begin = begin,
    .on_switch = on_switch,
    .record = record,
    .epoch = epoch,
    .lock = lock,
    .event = event,
    .lost = lost,
    .end = end,
    .free = free_all,
};
