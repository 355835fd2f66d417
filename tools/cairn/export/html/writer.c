/* SPDX-License-Identifier: MIT */
/* One page that needs no other file: a time line to explore, and the bytes of each thing on it (html.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/error.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/export/html/state.h"
#include "tools/cairn/log/bts.h"
#include "tools/cairn/log/etl/event_text.h"
#include "tools/cairn/log/locks.h"
#include "tools/cairn/model/ds_words.h"
#include "tools/cairn/model/filter.h"
#include "trace/wire/activity.h"
#include "trace/wire/spinlock.h"

static bool own(const char *start, size_t size)
{
    const size_t least = strlen(cairn_html_begins);
    return size >= least && memcmp(start, cairn_html_begins, least) == 0;
}

#define LOG_MOST (UINT64_C(256) << 20) /* bytes: a page of half that size is more than browsers show */

static int prepare(struct cairn_output *o)
{
    if (o->log->input.size <= LOG_MOST || cairn_filter_on())
        return CAIRN_GOOD;
    cairn_error("%s: has %" PRIu64 " MiB, but a page can show logs of up to %" PRIu64
                " MiB; choose a part with --from, --until or --cpu, or use --to perfetto",
                o->log->input.name, o->log->input.size >> 20, LOG_MOST >> 20);
    return CAIRN_BAD;
}

static void begin(struct cairn_output *o)
{
    struct cairn_html *h = o->state;
    h->s.to = o->file;
    cairn_thread_colours_read(&h->colours, o->log);
    cairn_stints_range(o->log, o->compact, &h->first, &h->last);
    cairn_filter_cut(&h->first, &h->last);
    for (uint32_t c = 0; c < o->log->cpus; c++) {
        struct cairn_html_cpu *cpu = &h->cpu[c];
        cairn_stints_init(&cpu->stints, o->log);
        if (cpu->stints.time < h->first)
            cpu->stints.time = h->first; /* --from: who leaves at the first switch had come before it */
        cairn_record_gaps_begin(&cpu->gaps, h->first);
    }
    if (o->log->session.start_known) {
        h->origin = h->before = o->log->session.start;
        h->begun = true;
    }
    cairn_html_head(o->file);
}

/* ---- the stream ------------------------------------------------------------------------------------------------- */

/* How every item with a time begins. */
static struct cairn_html_stream *item_of(struct cairn_html *h, enum cairn_html_item what, const struct cairn_item *item)
{
    int64_t units = 0;
    if (what != CAIRN_HTML_lost) {
        if (!h->begun)
            h->origin = h->before = item->time;
        h->begun = true;
        units = cairn_html_between(h->before, item->time);
        h->before = item->time;
    }
    cairn_html_byte(&h->s, (uint8_t)what);
    cairn_html_number(&h->s, item->cpu);
    cairn_html_signed(&h->s, units);
    return &h->s;
}

static void whole_event(struct cairn_html_stream *s, const struct cairn_event *event)
{
    cairn_html_number(s, event->head);
    cairn_html_number(s, event->head + event->size);
    cairn_html_bytes(s, event->payload - event->head, event->head + event->size);
}

static void add_stint(struct cairn_html_cpu *cpu, const struct cairn_stint *stint)
{
    cpu->whose[stint->kind] += (uint64_t)stint->to - (uint64_t)stint->from;
}

static void note_thread(struct cairn_output *o, uint32_t tid)
{
    struct cairn_html *h = o->state;
    if (!tid || cairn_find_name(&o->log->text, tid) || cairn_map_find(&h->is_nameless, tid))
        return;
    cairn_map_add(&h->is_nameless, tid, (uint32_t)h->nameless.count);
    *CAIRN_ADD(h->nameless) = tid;
}

static void on_switch(struct cairn_output *o, const struct cairn_item *item)
{
    struct cairn_html *h = o->state;
    const struct cairn_switch *sw = &item->sw;
    struct cairn_html_cpu *cpu = &h->cpu[item->cpu];
    struct cairn_stint stint;
    if (cairn_stints_next(&cpu->stints, sw, &stint))
        add_stint(cpu, &stint);
    cpu->hole = false;
    note_thread(o, sw->old_tid);
    if (sw->new_known)
        note_thread(o, sw->new_tid);
    if (cpu->payload != sw->event->payload || cpu->time != sw->event->time) {
        cpu->payload = sw->event->payload;
        cpu->time = sw->event->time;
        h->batches++;
        cairn_html_byte(&h->s, CAIRN_HTML_batch);
        cairn_html_number(&h->s, item->cpu);
        whole_event(&h->s, sw->event);
    }
    struct cairn_html_stream *s = item_of(h, CAIRN_HTML_switch, item);
    h->switches++;
    cairn_html_byte(s, (uint8_t)(sw->form | sw->new_known << 3 | sw->detailed << 4 | sw->raw << 5));
    cairn_html_number(s, sw->old_tid);
    if (sw->new_known)
        cairn_html_number(s, sw->new_tid);
    if (sw->detailed) {
        cairn_html_byte(s, sw->state);
        cairn_html_byte(s, sw->reason);
        cairn_html_byte(s, (uint8_t)sw->priority);
    }
    if (sw->form == CAIRN_FORM_FULL || sw->form == CAIRN_FORM_EVENT)
        cairn_html_number(s, sw->wait);
}

/* The words of the record as JSON; names are of our own making, without what JSON would have to escape. */
static uint64_t words_of(struct cairn_html *h, const struct cairn_record *r, unsigned *count)
{
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f;
    size_t used = 1;
    h->words[0] = '[';
    *count = 0;
    cairn_pebs_walk(&walk, r->format, r->at, r->size);
    while (used + 64 < sizeof(h->words) && cairn_pebs_next(&walk, &f)) {
        used += (size_t)snprintf(h->words + used, sizeof(h->words) - used, "%s[\"%s\",\"%s\",%" PRIu32 "]",
                                 *count ? "," : "", r->format >= 4 ? cairn_pebs_group_name(f.group) : "", f.name, f.at);
        ++*count;
    }
    snprintf(h->words + used, sizeof(h->words) - used, "]");
    return cairn_html_text(&h->s, h->words);
}

static void record(struct cairn_output *o, const struct cairn_item *item)
{
    struct cairn_html *h = o->state;
    const struct cairn_record *r = item->record;
    const bool known = item->blame == CAIRN_BLAME_KNOWN;
    char function[CAIRN_SHOWN], meaning[CAIRN_SHOWN_ALL];
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f;
    unsigned words;
    uint64_t means[sizeof(h->words) / 16];
    const uint64_t what = words_of(h, r, &words);
    const uint64_t why = known ? 0 : cairn_html_text(&h->s, cairn_blame_text(item->blame));
    const uint64_t named = cairn_html_text(&h->s, cairn_out_function(o, r->ip, function) ? function : "");
    cairn_pebs_walk(&walk, r->format, r->at, r->size);
    for (unsigned i = 0; i < words && cairn_pebs_next(&walk, &f); i++)
        means[i] = cairn_html_text(&h->s, cairn_show_field(meaning, o->log, item->cpu, r, &f));
    struct cairn_html_stream *s = item_of(h, CAIRN_HTML_record, item);
    cairn_record_gaps_record(&h->cpu[item->cpu].gaps, r);
    h->records++;
    cairn_html_byte(s, (uint8_t)(r->timed | r->after << 1 | known << 2));
    cairn_html_number(s, known ? item->tid : why);
    cairn_html_bytes(s, &r->ip, sizeof(r->ip));
    cairn_html_bytes(s, &r->address, sizeof(r->address));
    cairn_html_number(s, named);
    cairn_html_number(s, what);
    cairn_html_number(s, r->epoch);
    cairn_html_number(s, r->format);
    cairn_html_number(s, r->size);
    cairn_html_bytes(s, r->at, r->size);
    for (unsigned i = 0; i < words; i++)
        cairn_html_number(s, means[i]);
}

static void missed(struct cairn_html *h, uint32_t cpu, const struct cairn_record_gap *gap)
{
    const uint64_t text = cairn_html_text(&h->s, gap->text);
    cairn_html_byte(&h->s, CAIRN_HTML_missed);
    cairn_html_number(&h->s, cpu);
    cairn_html_signed(&h->s, 0);
    cairn_html_number(&h->s, text);
    cairn_html_byte(&h->s, gap->quiet);
    cairn_html_signed(&h->s, cairn_html_between(h->origin, gap->from));
    cairn_html_signed(&h->s, cairn_html_between(h->origin, gap->to));
}

/* The DS area as JSON; an event's name in it is the log's. */
static uint64_t rows_of(struct cairn_output *o, const struct cairn_item *item)
{
    struct cairn_html *h = o->state;
    const struct cairn_epoch *e = item->epoch;
    struct cairn_area_row row;
    char *rows = NULL;
    size_t size;
    struct cairn_json j = {.to = open_memstream(&rows, &size)};
    if (!j.to)
        cairn_out_of_memory();
    cairn_json_open_list(&j, NULL);
    for (unsigned n = 0; n < e->area_bytes / 8; n += row.words) {
        char by[2] = {0};
        cairn_area_row(o->log, item->cpu, e, n, &row);
        by[0] = row.by;
        cairn_json_open_list(&j, NULL);
        cairn_json_number(&j, NULL, 8 * n);
        cairn_json_number(&j, NULL, row.words);
        cairn_json_text(&j, NULL, row.name);
        cairn_json_text(&j, NULL, by);
        cairn_json_text(&j, NULL, row.what);
        cairn_json_text(&j, NULL, row.counter);
        cairn_json_close_list(&j);
    }
    cairn_json_close_list(&j);
    if (fclose(j.to))
        cairn_out_of_memory();
    const uint64_t text = cairn_html_text(&h->s, rows);
    free(rows);
    return text;
}

static void epoch(struct cairn_output *o, const struct cairn_item *item)
{
    struct cairn_html *h = o->state;
    const struct cairn_epoch *e = item->epoch;
    char lost[32] = "unknown";
    uint64_t record_bytes = 0;
    cairn_ds_number(&o->log->text, item->cpu, "record_bytes", &record_bytes);
    if (e->lost != CAIRN_DS_LOST_UNKNOWN)
        snprintf(lost, sizeof(lost), "%" PRIu64, e->lost);
    const uint64_t reason = cairn_html_text(&h->s, cairn_drain_name(e->reason)), dropped = cairn_html_text(&h->s, lost);
    const uint64_t rows = rows_of(o, item);
    struct cairn_html_stream *s = item_of(h, CAIRN_HTML_drain, item);
    h->starts += e->reason == CAIRN_DS_START;
    h->drains += e->reason != CAIRN_DS_START;
    cairn_html_number(s, e->number);
    cairn_html_number(s, e->reason);
    cairn_html_number(s, reason);
    cairn_html_number(s, e->records);
    cairn_html_byte(s, e->bytes_seen == e->record_bytes);
    cairn_html_number(s, dropped);
    cairn_html_number(s, record_bytes);
    cairn_html_number(s, rows);
    cairn_html_number(s, e->format);
    cairn_html_number(s, e->area_bytes);
    cairn_html_bytes(s, e->area, e->area_bytes);
    struct cairn_record_gap gaps[CAIRN_RECORD_GAPS];
    const unsigned count = cairn_record_gaps_drain(&h->cpu[item->cpu].gaps, e, gaps);
    for (unsigned i = 0; i < count; i++)
        missed(h, item->cpu, &gaps[i]);
}

static void lock(struct cairn_output *o, const struct cairn_item *item, const struct cairn_held *held)
{
    struct cairn_html *h = o->state;
    const struct wmi_spinlock *l = &held->is;
    char name[CAIRN_SHOWN], function[CAIRN_SHOWN];
    const uint64_t named = cairn_html_text(&h->s, cairn_show_lock(name, o->log, l->spin_lock_address, CAIRN_SHOWN - 1));
    const uint64_t by = cairn_html_text(&h->s, cairn_out_function(o, l->caller_address, function) ? function : "");
    const uint64_t mode = cairn_html_text(&h->s, cairn_lock_mode_name(l->flags & WMI_SPINLOCK_MODE_MASK));
    struct cairn_html_stream *s = item_of(h, CAIRN_HTML_lock, item);
    h->locks++;
    cairn_html_number(s, l->thread_id);
    cairn_html_number(s, named);
    cairn_html_number(s, by);
    cairn_html_byte(s, held->timed);
    cairn_html_signed(s, held->timed ? cairn_html_between(item->time, held->acquired) : 0);
    cairn_html_signed(s, held->timed ? cairn_html_between(item->time, held->released) : 0);
    cairn_html_number(s, mode);
    cairn_html_bytes(s, l, sizeof(*l));
}

static void event(struct cairn_output *o, const struct cairn_item *item, const struct cairn_live *live)
{
    struct cairn_html *h = o->state;
    char text[CAIRN_EVENT_TEXT];
    const uint64_t says = cairn_html_text(&h->s, cairn_event_text(text, o->log, item->event, live));
    const bool ready = live && live->kind == CAIRN_LIVE_READY;
    struct cairn_html_stream *s = item_of(h, ready ? CAIRN_HTML_ready : CAIRN_HTML_event, item);
    h->events++;
    if (ready)
        cairn_html_number(s, cairn_get32(live->payload + offsetof(struct etw_ready_thread, thread_id)));
    cairn_html_number(s, item->event->hook);
    cairn_html_number(s, says);
    whole_event(s, item->event);
}

static void lost(struct cairn_output *o, const struct cairn_item *item)
{
    struct cairn_html *h = o->state;
    const struct cairn_hole *hole = item->hole;
    const bool stopped = hole->kind == CAIRN_HOLE_STOPPED;
    const bool since = stopped && hole->since != INT64_MIN, until = stopped && hole->until != INT64_MAX;
    char text[CAIRN_SHOWN];
    const uint64_t says = cairn_html_text(&h->s, cairn_show_hole(text, o->log, hole));
    struct cairn_html_stream *s = item_of(h, CAIRN_HTML_lost, item);
    h->cpu[item->cpu].hole = true;
    cairn_record_gaps_hole(&h->cpu[item->cpu].gaps, hole);
    h->lost++;
    cairn_html_number(s, hole->kind);
    cairn_html_number(s, says);
    cairn_html_byte(s, (uint8_t)(since | until << 1));
    if (since)
        cairn_html_signed(s, cairn_html_between(h->origin, hole->since));
    if (until)
        cairn_html_signed(s, cairn_html_between(h->origin, hole->until));
}

/* ---- branches: no items of the timeline ------------------------------------------------------------------------- */

static uint64_t place(struct cairn_output *o, uint64_t address)
{
    struct cairn_html *h = o->state;
    char shown[CAIRN_SHOWN];
    return cairn_html_text(&h->s, cairn_show_address(shown, o->log, address, CAIRN_SHOWN - 1));
}

static void bts_drain(struct cairn_output *o, uint32_t cpu, const struct cairn_bts_group *g)
{
    const struct cairn_bts_drain *d = &g->step.drain;
    struct cairn_html *h = o->state;
    struct cairn_branch b;
    char lost[32] = "unknown";
    uint32_t seen = 0;
    if (d->lost != CAIRN_DS_LOST_UNKNOWN)
        snprintf(lost, sizeof(lost), "%" PRIu64, d->lost);
    const uint64_t reason = cairn_html_text(&h->s, cairn_drain_name(d->reason)), dropped = cairn_html_text(&h->s, lost);
    for (; cairn_bts_record(g, seen, &b); seen++) { /* a text comes before what has it */
        place(o, b.from);
        place(o, b.to);
    }
    struct cairn_html_stream *s = &h->s;
    h->branches += seen;
    h->bts_drains++;
    cairn_html_byte(s, CAIRN_HTML_btsdrain);
    cairn_html_number(s, cpu);
    cairn_html_signed(s, 0);
    cairn_html_signed(s, cairn_html_between(h->origin, d->time));
    cairn_html_number(s, d->number);
    cairn_html_number(s, reason);
    cairn_html_number(s, d->tid);
    cairn_html_number(s, d->record_bytes / CAIRN_BTS_BYTES);
    cairn_html_number(s, dropped);
    cairn_html_byte(s, d->interrupting);
    cairn_html_number(s, seen);
    for (uint32_t i = 0; i < seen; i++)
        cairn_html_bytes(s, cairn_bts_at(g, i), CAIRN_BTS_BYTES);
    for (uint32_t i = 0; i < seen; i++) {
        cairn_bts_record(g, i, &b);
        cairn_html_number(s, place(o, b.from));
        cairn_html_number(s, place(o, b.to));
    }
}

static void bts_drains(struct cairn_output *o)
{
    struct cairn_bts_group *g = cairn_alloc(sizeof(*g));
    const struct cairn_bts_drain *d;
    for (uint32_t c = 0; c < o->log->cpus; c++) {
        if (!cairn_filter_cpu(c) || !o->log->cpu[c].bts.epochs)
            continue;
        cairn_bts_group_init(g, o->log, c);
        while ((d = cairn_bts_group_next(g)) != NULL)
            if (d->reason != CAIRN_DS_START && cairn_filter_time(d->time))
                bts_drain(o, c, g);
        cairn_bts_group_free(g);
    }
    free(g);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* From each CPU's last switch, and its last drain, to the end. Which of them it is known of who ran there. */
static void rests(struct cairn_output *o)
{
    struct cairn_html *h = o->state;
    for (uint32_t c = 0; c < o->log->cpus; c++) {
        struct cairn_stint rest = {.kind = CAIRN_STINT_UNKNOWN};
        struct cairn_html_cpu *cpu = &h->cpu[c];
        if (cairn_filter_cpu(c) && cairn_stints_rest(&cpu->stints, o->log, c, cpu->hole, h->last, &rest))
            add_stint(cpu, &rest);
        cpu->rest_known = rest.kind != CAIRN_STINT_UNKNOWN;
    }
}

static int end(struct cairn_output *o)
{
    struct cairn_html *h = o->state;
    struct cairn_record_gap gap;
    for (uint32_t c = 0; c < o->log->cpus; c++)
        if (cairn_filter_cpu(c) && cairn_record_gaps_end(&h->cpu[c].gaps, o->log, c, h->cpu[c].hole, h->last, &gap))
            missed(h, c, &gap);
    bts_drains(o);
    cairn_html_stream_end(&h->s);
    rests(o);
    fputs("<script type=\"application/json\" id=\"meta\">", o->file);
    cairn_html_meta(o);
    fputs("</script>\n", o->file);
    cairn_html_tail(o->file);
    return 0;
}

static void free_html(struct cairn_output *o)
{
    struct cairn_html *h = o->state;
    cairn_html_stream_free(&h->s);
    cairn_thread_colours_free(&h->colours);
    cairn_map_free(&h->is_nameless);
    free(h->nameless.items);
}

const struct cairn_writer cairn_writer_html = {
    .name = "html",
    .summary = "page for any browser, in one file: a time line, and each record and switch byte by byte and field by "
               "field",
    .state = sizeof(struct cairn_html),
    .own = own,
    .prepare = prepare,
    .begin = begin,
    .on_switch = on_switch,
    .record = record,
    .epoch = epoch,
    .lock = lock,
    .event = event,
    .lost = lost,
    .end = end,
    .free = free_html,
};
