/* SPDX-License-Identifier: MIT */
/* The JSON object behind a page's stream: the log as a whole (html.h). */
#include <inttypes.h>

#include "tools/cairn/base/error.h"
#include "tools/cairn/export/html/state.h"
#include "tools/cairn/model/filter.h"
#include "tools/cairn/model/loss.h"

static void palette(struct cairn_json *j)
{
    char colour[8];
    cairn_json_open(j, "palette");
    for (unsigned dark = 0; dark < 2; dark++) {
        cairn_json_open_list(j, dark ? "dark" : "light");
        for (unsigned i = 0; i < CAIRN_COLOURS; i++)
            cairn_json_text(j, NULL, cairn_colour_text(colour, i, dark));
        cairn_json_close_list(j);
    }
    cairn_json_close(j);
}

/* TID and colour; of those with a name, that and the base priority. */
static void threads(struct cairn_json *j, const struct cairn_html *h, const struct cairn_text *text)
{
    cairn_json_open_list(j, "threads");
    for (size_t i = 0; i < text->names.count; i++) {
        const struct cairn_name *n = &text->names.items[i];
        cairn_json_open_list(j, NULL);
        cairn_json_number(j, NULL, n->tid);
        cairn_json_number(j, NULL, cairn_thread_colour(&h->colours, n->tid));
        cairn_json_slice(j, NULL, n->name);
        cairn_json_number(j, NULL, n->base);
        cairn_json_close_list(j);
    }
    for (size_t i = 0; i < h->nameless.count; i++) {
        cairn_json_open_list(j, NULL);
        cairn_json_number(j, NULL, h->nameless.items[i]);
        cairn_json_number(j, NULL, cairn_thread_colour(&h->colours, h->nameless.items[i]));
        cairn_json_close_list(j);
    }
    cairn_json_close_list(j);
}

/* Pairs: of the log's own text nothing becomes a member's name. */
static void keys(struct cairn_json *j, const struct cairn_text *text)
{
    cairn_json_open_list(j, "keys");
    for (size_t i = 0; i < text->keys.count; i++) {
        cairn_json_open_list(j, NULL);
        cairn_json_slice(j, NULL, text->keys.items[i].name);
        cairn_json_slice(j, NULL, text->keys.items[i].value);
        cairn_json_close_list(j);
    }
    cairn_json_close_list(j);
}

/* The times there are, from the beginning on, and what of the trace this is. */
static void range(struct cairn_json *j, const struct cairn_output *o)
{
    const struct cairn_html *h = o->state;
    cairn_json_number(j, "first", cairn_html_between(h->origin, h->first));
    cairn_json_number(j, "last", cairn_html_between(h->origin, h->last));
    cairn_json_text(j, "only", cairn_filter_text());
    cairn_json_bool(j, "only_cpus", cairn_filter_by_cpu());
    cairn_json_open_list(j, "shown");
    for (uint32_t cpu = 0; cpu < o->log->cpus; cpu++)
        if (cairn_filter_cpu(cpu))
            cairn_json_number(j, NULL, cpu);
    cairn_json_close_list(j);
}

static void whose(struct cairn_json *j, const struct cairn_html *h, uint32_t cpus)
{
    cairn_json_open_list(j, "whose");
    for (uint32_t c = 0; c < cpus; c++) {
        cairn_json_open(j, NULL);
        cairn_json_number(j, "busy", (int64_t)h->cpu[c].whose[CAIRN_STINT_THREAD]);
        cairn_json_number(j, "idle", (int64_t)h->cpu[c].whose[CAIRN_STINT_IDLE]);
        cairn_json_number(j, "unknown", (int64_t)h->cpu[c].whose[CAIRN_STINT_UNKNOWN]);
        cairn_json_close(j);
    }
    cairn_json_close_list(j);
}

static void rests(struct cairn_json *j, const struct cairn_html *h, uint32_t cpus)
{
    cairn_json_open_list(j, "rest_known");
    for (uint32_t c = 0; c < cpus; c++)
        cairn_json_bool(j, NULL, h->cpu[c].rest_known);
    cairn_json_close_list(j);
}

/* Why the run did not end well, and what it lost: "" and [], where it did and nothing was. */
static void tell_loss(void *to, const char *text)
{
    cairn_json_text(to, NULL, text);
}

static void verdict(struct cairn_json *j, const struct cairn_log *log)
{
    char text[CAIRN_SHOWN_END];
    cairn_json_text(j, "bad_end", cairn_show_bad_end(text, log) ? text : "");
    cairn_json_open_list(j, "losses");
    cairn_tell_losses(log, tell_loss, j);
    cairn_json_close_list(j);
}

static void totals(struct cairn_json *j, const struct cairn_output *o)
{
    const struct cairn_html *h = o->state;
    cairn_json_open(j, "totals");
    cairn_json_number(j, "bytes", (int64_t)h->s.bytes);
    cairn_json_number(j, "switches", (int64_t)h->switches);
    cairn_json_number(j, "batches", (int64_t)h->batches);
    cairn_json_number(j, "samples", (int64_t)h->records);
    cairn_json_number(j, "starts", (int64_t)h->starts);
    cairn_json_number(j, "drains", (int64_t)h->drains);
    cairn_json_number(j, "locks", (int64_t)h->locks);
    cairn_json_number(j, "events", (int64_t)h->events);
    cairn_json_number(j, "lost", (int64_t)h->lost);
    cairn_json_number(j, "branches", (int64_t)h->branches);
    cairn_json_number(j, "bts_drains", (int64_t)h->bts_drains);
    cairn_json_number(j, "missing_frames", (int64_t)o->log->frames.missing_frames);
    cairn_json_close(j);
}

void cairn_html_meta(const struct cairn_output *o)
{
    const struct cairn_html *h = o->state;
    const struct cairn_session *session = &o->log->session;
    struct cairn_json j = {.to = o->file, .in_markup = true};
    char origin[32], began[CAIRN_DATE_TEXT];
    int64_t unix_ns;
    cairn_json_open(&j, NULL);
    cairn_json_number(&j, "format", CAIRN_HTML_FORMAT);
    cairn_json_text(&j, "cairn", CAIRN_VERSION);
    cairn_json_number(&j, "session", o->log->number);
    cairn_json_number(&j, "cpus", o->log->cpus);
    cairn_json_count(&j, "hz", session->hz ? session->hz : TRACE_CLOCK_HZ);
    snprintf(origin, sizeof(origin), "%" PRId64, h->origin);
    cairn_json_text(&j, "origin", origin);
    cairn_json_bool(&j, "from_session_start", session->start_known);
    range(&j, o);
    cairn_json_number(&j, "maximum_wait_reason", session->maximum_wait_reason);
    cairn_json_text(&j, "began", cairn_out_wall(o, &unix_ns, began) ? began : "");
    cairn_json_text(&j, "switches_from", cairn_out_switches_from(o) ? cairn_out_switches_from(o) : "");
    if (cairn_has_key(&o->log->text, "ds.emulated"))
        cairn_json_bool(&j, "emulated_ds", cairn_slice_is(cairn_key(&o->log->text, "ds.emulated"), "1"));
    cairn_json_bool(&j, "emulated_machine", cairn_slice_is(cairn_key(&o->log->text, "machine.emulated"), "1"));
    verdict(&j, o->log);
    rests(&j, h, o->log->cpus);
    whose(&j, h, o->log->cpus);
    totals(&j, o);
    cairn_html_layouts(&j);
    palette(&j);
    threads(&j, h, &o->log->text);
    keys(&j, &o->log->text);
    cairn_json_end(&j);
}
