/* SPDX-License-Identifier: MIT */
/* A SQLite database: docs/how-to/sqlite.md. Each item of the trace becomes a row, with the columns of schema.sql. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/event/etl_layout.h"
#include "tools/cairn/export/partial.h"
#include "tools/cairn/export/sqlite/sqlite.h"
#include "tools/cairn/log/etl/event_text.h"
#include "tools/cairn/log/locks.h"
#include "tools/cairn/model/cpu_time.h"
#include "tools/cairn/model/filter.h"
#include "tools/cairn/model/loss.h"
#include "tools/pebs/pebs.h"

struct state {
    struct cairn_sql sql;
    int64_t items; /* so far: the ID of the last */
    int64_t ends;  /* session clock */
    uint32_t losses;
    struct cpu {
        struct cairn_stints stints;
        bool hole;            /* since the last switch */
        int64_t branch_drain; /* ID of the last */
    } * cpu;
};

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static struct cairn_sql *row(struct cairn_output *o, enum cairn_sql_table table)
{
    struct state *s = o->state;
    cairn_sql_row(&s->sql, table);
    return &s->sql;
}

/* The row of an item: its ID is the first column. */
static struct cairn_sql *item_row(struct cairn_output *o, enum cairn_sql_table table)
{
    struct cairn_sql *q = row(o, table);
    cairn_sql_number(q, ++((struct state *)o->state)->items);
    return q;
}

/* Next to it, time and CPU. */
static struct cairn_sql *timed_row(struct cairn_output *o, enum cairn_sql_table table, int64_t time, uint32_t cpu)
{
    struct cairn_sql *q = item_row(o, table);
    cairn_sql_number(q, cairn_out_ns(o, time));
    cairn_sql_number(q, cpu);
    return q;
}

static void text_or_null(struct cairn_sql *q, const char *text)
{
    if (text && *text)
        cairn_sql_text(q, cairn_slice_of(text));
    else
        cairn_sql_null(q);
}

static void address(struct cairn_output *o, struct cairn_sql *q, uint64_t at)
{
    char text[CAIRN_SHOWN];
    cairn_sql_bits(q, at);
    text_or_null(q, cairn_out_function(o, at, text));
}

/* ---- the log ----------------------------------------------------------------------------------------------------- */

static void fact(struct cairn_output *o, const char *name, const char *value)
{
    struct cairn_sql *q = row(o, CAIRN_SQL_LOG);
    cairn_sql_word(q, name);
    cairn_sql_text(q, cairn_slice_of(value));
    cairn_sql_write(q);
}

static void number_fact(struct cairn_output *o, const char *name, int64_t value)
{
    struct cairn_sql *q = row(o, CAIRN_SQL_LOG);
    cairn_sql_word(q, name);
    cairn_sql_number(q, value);
    cairn_sql_write(q);
}

/* Nothing where the log does not tell. */
static void emulated(struct cairn_output *o, const char *name, const char *key)
{
    if (cairn_has_key(&o->log->text, "%s", key))
        number_fact(o, name, cairn_slice_is(cairn_key(&o->log->text, "%s", key), "1"));
}

static void tell_loss(void *to, const char *text)
{
    struct cairn_output *o = to;
    char name[32];
    snprintf(name, sizeof(name), "loss.%u", ++((struct state *)o->state)->losses);
    fact(o, name, text);
}

static void facts(struct cairn_output *o, int64_t begins)
{
    const struct cairn_log *log = o->log;
    char text[CAIRN_SHOWN_END], began[CAIRN_DATE_TEXT];
    int64_t unix_ns;
    fact(o, "cairn", CAIRN_VERSION);
    number_fact(o, "format", CAIRN_SQL_FORMAT);
    if (cairn_log_grabbed(log))
        fact(o, "source", cairn_slice_text(text, sizeof(text), cairn_key(&log->text, "grab.source")));
    else
        fact(o, "source", log->etl ? "ETL file" : "serial log");
    number_fact(o, "session", log->number);
    number_fact(o, "cpus", log->cpus);
    number_fact(o, "from_session_start", log->session.start_known);
    number_fact(o, "begins_ns", cairn_out_ns(o, begins));
    number_fact(o, "ends_ns", cairn_out_ns(o, ((struct state *)o->state)->ends));
    if (cairn_out_wall(o, &unix_ns, began)) {
        fact(o, "began", began);
        number_fact(o, "began_unix_ns", unix_ns);
    }
    if (cairn_out_switches_from(o))
        fact(o, "switches_from", cairn_out_switches_from(o));
    if (cairn_filter_on())
        fact(o, "only", cairn_filter_text());
    emulated(o, "emulated_ds", "ds.emulated");
    emulated(o, "emulated_machine", "machine.emulated");
    if (cairn_show_bad_end(text, log))
        fact(o, "bad_end", text);
    cairn_tell_losses(log, tell_loss, o);
}

static void begin(struct cairn_output *o)
{
    struct state *s = o->state;
    const struct cairn_text *text = &o->log->text;
    int64_t begins;
    cairn_stints_range(o->log, o->compact, &begins, &s->ends);
    cairn_filter_cut(&begins, &s->ends);
    s->cpu = cairn_alloc((o->log->cpus + 1) * sizeof(*s->cpu));
    for (uint32_t c = 0; c < o->log->cpus; c++) {
        cairn_stints_init(&s->cpu[c].stints, o->log);
        if (s->cpu[c].stints.time < begins)
            s->cpu[c].stints.time = begins; /* --from: who leaves at the first switch had come before it */
    }
    cairn_sql_open(&s->sql, cairn_partial_path());
    facts(o, begins);
    for (size_t i = 0; i < text->keys.count; i++) {
        const struct cairn_key *key = &text->keys.items[i];
        if (!cairn_key_counts(text, key))
            continue;
        struct cairn_sql *q = row(o, CAIRN_SQL_KEYS);
        cairn_sql_text(q, key->name);
        cairn_sql_text(q, key->value);
        cairn_sql_write(q);
    }
    for (size_t i = 0; i < text->names.count; i++) {
        const struct cairn_name *n = &text->names.items[i];
        struct cairn_sql *q = row(o, CAIRN_SQL_THREADS);
        cairn_sql_number(q, n->tid);
        cairn_sql_text(q, n->tid ? n->name : cairn_slice_of("idle"));
        cairn_sql_number(q, n->base);
        cairn_sql_write(q);
    }
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

/* What Windows writes of a switch in 0524H alone. From version 3 on there is more in the byte of the wait mode. */
static void windows(struct cairn_output *o, struct cairn_sql *q, const struct cairn_switch *sw)
{
    const bool told = sw->form == CAIRN_FORM_EVENT && o->log->etl && !o->log->own;
    struct wmi_contextswap w = {0};
    if (told)
        memcpy(&w, sw->event->payload, sizeof(w));
    cairn_sql_maybe(q, told, w.new_thread_priority);
    cairn_sql_word(q, !told ? NULL : w.old_thread_wait_mode & 1 ? "user" : "kernel");
    cairn_sql_maybe(q, told, w.old_thread_ideal_processor);
}

static void on_switch(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_switch *sw = &item->sw;
    struct cpu *cpu = &((struct state *)o->state)->cpu[item->cpu];
    const bool waits = sw->form == CAIRN_FORM_FULL || sw->form == CAIRN_FORM_EVENT;
    const bool told = sw->detailed && !sw->raw;
    struct cairn_stint stint;
    const bool ran = cairn_stints_next(&cpu->stints, sw, &stint) && stint.kind != CAIRN_STINT_UNKNOWN;
    struct cairn_sql *q = timed_row(o, CAIRN_SQL_SWITCHES, sw->time, item->cpu);
    cpu->hole = false;
    cairn_sql_number(q, sw->old_tid);
    cairn_sql_maybe(q, sw->new_known, sw->new_tid);
    cairn_sql_maybe(q, ran, ran ? cairn_out_ns(o, stint.to) - cairn_out_ns(o, stint.from) : 0);
    cairn_sql_word(q, cairn_form_name(sw->form));
    cairn_sql_word(q, told ? cairn_state_name(sw->state) : NULL);
    cairn_sql_word(q, told && sw->state == KTHREAD_WAITING ? cairn_reason_name(sw->reason) : NULL);
    cairn_sql_maybe(q, sw->detailed && sw->raw, sw->reason);
    cairn_sql_maybe(q, sw->detailed, sw->priority);
    cairn_sql_maybe(q, waits, sw->wait);
    cairn_sql_maybe(q, waits, sw->form == CAIRN_FORM_FULL && sw->wait == CCSWAP_MASK(CCSWAP_FULL_WAIT_BITS));
    windows(o, q, sw);
    cairn_sql_write(q);
}

static void record(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_record *r = item->record;
    struct cairn_sql *q = timed_row(o, CAIRN_SQL_RECORDS, r->time, item->cpu);
    const int64_t id = ((struct state *)o->state)->items;
    const bool known = item->blame == CAIRN_BLAME_KNOWN;
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field field;
    cairn_sql_number(q, r->timed);
    address(o, q, r->ip);
    cairn_sql_number(q, r->after);
    cairn_sql_maybe(q, known, item->tid);
    cairn_sql_word(q, known ? NULL : cairn_blame_why(item->blame));
    cairn_sql_number(q, r->epoch);
    cairn_sql_number(q, r->format);
    cairn_sql_bits(q, r->address);
    cairn_sql_number(q, r->size);
    cairn_sql_maybe(q, r->timed, (int64_t)r->tsc);
    cairn_sql_write(q);
    cairn_pebs_walk(&walk, r->format, r->at, r->size);
    while (cairn_pebs_next(&walk, &field)) {
        q = row(o, CAIRN_SQL_FIELDS);
        cairn_sql_number(q, id);
        cairn_sql_number(q, field.at);
        cairn_sql_word(q, field.name);
        cairn_sql_bits(q, field.value);
        cairn_sql_write(q);
    }
}

/* The columns that both kinds of drains have; behind them come tid and circular. */
static struct cairn_sql *drain(struct cairn_output *o, const struct cairn_item *item, const char *buffer,
                               uint32_t epoch, uint8_t reason)
{
    struct cairn_sql *q = item_row(o, CAIRN_SQL_DRAINS);
    cairn_sql_word(q, buffer);
    cairn_sql_number(q, cairn_out_ns(o, item->time));
    cairn_sql_number(q, item->cpu);
    cairn_sql_number(q, epoch);
    cairn_sql_word(q, cairn_drain_name(reason));
    return q;
}

static void epoch(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_epoch *e = item->epoch;
    struct cairn_sql *q = drain(o, item, "PEBS", e->number, e->reason);
    cairn_sql_number(q, e->records);
    cairn_sql_number(q, e->bytes_seen == e->record_bytes);
    cairn_sql_maybe(q, e->lost != CAIRN_DS_LOST_UNKNOWN, (int64_t)e->lost);
    cairn_sql_null(q);
    cairn_sql_null(q);
    cairn_sql_write(q);
}

static void branch_drain(struct cairn_output *o, const struct cairn_item *item)
{
    struct state *s = o->state;
    const struct cairn_bts_drain *d = &item->branches->drain;
    struct cairn_sql *q = drain(o, item, "BTS", d->number, d->reason);
    s->cpu[item->cpu].branch_drain = s->items;
    cairn_sql_number(q, d->record_bytes / CAIRN_BTS_BYTES);
    cairn_sql_number(q, cairn_bts_complete(d));
    cairn_sql_maybe(q, d->lost != CAIRN_DS_LOST_UNKNOWN, (int64_t)d->lost);
    cairn_sql_maybe(q, d->reason != CAIRN_DS_START, d->tid);
    cairn_sql_number(q, !d->interrupting);
    cairn_sql_write(q);
}

static void branches(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_bts_step *step = item->branches;
    if (!step->count)
        branch_drain(o, item);
    for (uint32_t i = 0; i < step->count; i++) {
        const struct cairn_branch b = cairn_bts_step_record(step, i);
        struct cairn_sql *q = item_row(o, CAIRN_SQL_BRANCHES);
        cairn_sql_number(q, ((struct state *)o->state)->cpu[item->cpu].branch_drain);
        cairn_sql_number(q, step->first + i);
        address(o, q, b.from);
        address(o, q, b.to);
        cairn_sql_bits(q, b.flags);
        cairn_sql_write(q);
    }
}

static void lock(struct cairn_output *o, const struct cairn_item *item, const struct cairn_held *held)
{
    const struct wmi_spinlock *l = &held->is;
    struct cairn_sql *q = timed_row(o, CAIRN_SQL_LOCKS, item->time, item->cpu);
    const bool named = cairn_find_symbol(&o->log->text, l->spin_lock_address) != NULL;
    char name[CAIRN_SHOWN];
    cairn_sql_bits(q, l->spin_lock_address);
    text_or_null(q, named ? cairn_show_lock(name, o->log, l->spin_lock_address, CAIRN_SHOWN - 1) : NULL);
    address(o, q, l->caller_address);
    cairn_sql_number(q, l->thread_id);
    cairn_sql_word(q, cairn_lock_mode_name(l->flags & WMI_SPINLOCK_MODE_MASK));
    cairn_sql_maybe(q, held->timed, held->timed ? cairn_out_ns(o, held->acquired) : 0);
    cairn_sql_maybe(q, held->timed, held->timed ? cairn_out_ns(o, held->released) : 0);
    cairn_sql_number(q, l->wait_time_in_cycles);
    cairn_sql_number(q, l->spin_count);
    cairn_sql_number(q, l->interrupt_count);
    cairn_sql_number(q, l->irql);
    cairn_sql_number(q, l->acquire_depth);
    cairn_sql_number(q, (l->flags & WMI_SPINLOCK_EXECUTE_DPC) != 0);
    cairn_sql_number(q, (l->flags & WMI_SPINLOCK_EXECUTE_ISR) != 0);
    cairn_sql_write(q);
}

struct event_fields { /* told so far */
    struct cairn_output *o;
    int64_t event, count;
};

static void event_field(void *to, const char *name, const char *value)
{
    struct event_fields *f = to;
    struct cairn_sql *q = row(f->o, CAIRN_SQL_EVENT_FIELDS);
    cairn_sql_number(q, f->event);
    cairn_sql_number(q, f->count++);
    cairn_sql_text(q, cairn_slice_of(name));
    cairn_sql_text(q, cairn_slice_of(value));
    cairn_sql_write(q);
}

/* Whose event it is, and its number there; NULLs where it is none of a provider's, and no message. */
static void provider(struct cairn_sql *q, const struct cairn_event *e, const struct cairn_provider *p)
{
    const bool numbered = p || e->header == ETL_MESSAGE;
    char guid[CAIRN_GUID_TEXT];
    text_or_null(q, p ? p->name : NULL);
    text_or_null(q, e->provider ? cairn_guid_text(guid, e->provider) : NULL);
    cairn_sql_maybe(q, numbered, e->id);
    cairn_sql_maybe(q, numbered, e->version);
}

static void sample(struct cairn_output *o, int64_t event, int64_t time)
{
    const struct cairn_sample *s = o->sample;
    uint64_t frames[CAIRN_FRAMES];
    char place[CAIRN_SHOWN];
    bool cut;
    const unsigned depth = cairn_sample_frames(s, frames, &cut);
    struct cairn_sql *q = row(o, CAIRN_SQL_SAMPLES);
    cairn_sql_number(q, event);
    cairn_sql_number(q, s->tid);
    cairn_sql_maybe(q, s->pid != CAIRN_NO_TID, s->pid);
    cairn_sql_bits(q, s->ip);
    cairn_sql_text(q, cairn_slice_of(cairn_sample_place(place, o->log, s, time, s->ip)));
    cairn_sql_write(q);
    for (unsigned i = 0; i < depth && s->stack; i++) {
        q = row(o, CAIRN_SQL_SAMPLE_FRAMES);
        cairn_sql_number(q, event);
        cairn_sql_number(q, i);
        cairn_sql_bits(q, frames[i]);
        cairn_sql_text(q, cairn_slice_of(cairn_sample_place(place, o->log, s, time, frames[i])));
        cairn_sql_write(q);
    }
}

static void event(struct cairn_output *o, const struct cairn_item *item, const struct cairn_live *live)
{
    const struct cairn_event *e = item->event;
    struct cairn_provider p;
    const bool provided = cairn_provider_read(&p, o->log, e);
    char text[CAIRN_EVENT_TEXT], hook[16], name[CAIRN_VALUE_TEXT_MOST] = "";
    struct cairn_sql *q = timed_row(o, CAIRN_SQL_EVENTS, item->time, item->cpu);
    struct event_fields fields = {.o = o, .event = ((struct state *)o->state)->items};
    if (provided)
        cairn_event_name(name, &p);
    snprintf(hook, sizeof(hook), "%04" PRIX32 "H", e->hook);
    cairn_sql_maybe(q, item->blame == CAIRN_BLAME_KNOWN, item->tid);
    cairn_sql_word(q, e->hook != CAIRN_NO_HOOK ? hook : NULL);
    text_or_null(q, live ? cairn_live_name(live->kind) : e->hook != CAIRN_NO_HOOK ? cairn_hook_name(e->hook) : name);
    cairn_sql_text(q, cairn_slice_of(cairn_event_text(text, o->log, e, live)));
    provider(q, e, provided ? &p : NULL);
    cairn_sql_write(q);
    if (o->sample)
        sample(o, fields.event, item->time);
    cairn_event_fields(o->log, e, event_field, &fields);
}

static void lost(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_hole *h = item->hole;
    struct cairn_sql *q = item_row(o, CAIRN_SQL_LOSS);
    const bool first =
        h->kind == CAIRN_HOLE_BYTES || h->kind == CAIRN_HOLE_BUFFERS || h->kind == CAIRN_HOLE_OVERWRITTEN;
    const bool since = h->kind == CAIRN_HOLE_STOPPED && h->since != INT64_MIN;
    const bool until = h->kind == CAIRN_HOLE_STOPPED && h->until != INT64_MAX;
    char text[CAIRN_SHOWN];
    ((struct state *)o->state)->cpu[item->cpu].hole = true;
    cairn_sql_number(q, item->cpu);
    cairn_sql_word(q, cairn_hole_name(h->kind));
    cairn_sql_text(q, cairn_slice_of(cairn_show_hole(text, o->log, h)));
    cairn_sql_maybe(q, first, h->buffer);
    cairn_sql_maybe(q, first && h->kind != CAIRN_HOLE_BYTES, h->buffers);
    cairn_sql_maybe(q, h->kind == CAIRN_HOLE_BYTES, (int64_t)h->bytes);
    cairn_sql_maybe(q, since, since ? cairn_out_ns(o, h->since) : 0);
    cairn_sql_maybe(q, until, until ? cairn_out_ns(o, h->until) : 0);
    cairn_sql_write(q);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* The header of a database: its magic, and big-endian at 44H the application's ID. */
static bool own(const char *start, size_t size)
{
    static const char magic[] = "SQLite format 3";
    return size >= 0x48 && memcmp(start, magic, sizeof(magic)) == 0 &&
           __builtin_bswap32(cairn_get32(start + 0x44)) == CAIRN_SQL_ID;
}

static int end(struct cairn_output *o)
{
    struct state *s = o->state;
    for (uint32_t c = 0; c < o->log->cpus; c++) {
        struct cairn_stint rest;
        if (!cairn_filter_cpu(c) || !cairn_stints_rest(&s->cpu[c].stints, o->log, c, s->cpu[c].hole, s->ends, &rest) ||
            rest.kind == CAIRN_STINT_UNKNOWN)
            continue;
        struct cairn_sql *q = row(o, CAIRN_SQL_LAST_RUNS);
        cairn_sql_number(q, c);
        cairn_sql_number(q, rest.tid);
        cairn_sql_number(q, cairn_out_ns(o, rest.to) - cairn_out_ns(o, rest.from));
        cairn_sql_write(q);
    }
    number_fact(o, "missing_frames", o->log->frames.missing_frames);
    number_fact(o, "damaged_frames", (int64_t)cairn_damaged_frames(o->log));
    return cairn_sql_close(&s->sql);
}

static void free_all(struct cairn_output *o)
{
    struct state *s = o->state;
    cairn_sql_free(&s->sql);
    free(s->cpu);
}

const struct cairn_writer cairn_writer_sqlite = {
    .name = "sqlite",
    .summary = "a SQLite database: tables of switches, threads, PEBS records and their fields, branches, drains, spin "
               "locks, events and gaps, with indexes and views (docs/how-to/sqlite.md)",
    .samples = true,
    .state = sizeof(struct state),
    .needs_path = true,
    .needs_file = true,
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
    .free = free_all,
};
