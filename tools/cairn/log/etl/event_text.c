/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/event_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/cairn/log/etl/class_events.h"
#include "tools/cairn/log/etl/described/about.h"
#include "tools/cairn/log/etl/described/event_info.h"
#include "tools/cairn/log/etl/etl.h"
#include "tools/cairn/log/etl/stack.h"
#include "tools/cairn/log/etl/tracelogging.h"
#include "tools/cairn/log/show.h"

struct words {
    char *out;
    size_t used;
    bool any; /* a field was told */
    bool cut; /* nothing more has room */
};

static void add(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct words *w, const char *format, ...)
{
    static const char more[] = "...";
    const size_t room = CAIRN_EVENT_TEXT - w->used;
    va_list args;
    if (w->cut)
        return;
    va_start(args, format);
    const int n = vsnprintf(w->out + w->used, room, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < room) {
        w->used += (size_t)n;
        return;
    }
    w->used = CAIRN_EVENT_TEXT - sizeof(more);
    while (w->used && (w->out[w->used] & 0xC0) == 0x80) /* no part of a character */
        w->used--;
    memcpy(w->out + w->used, more, sizeof(more));
    w->cut = true;
}

static void add_field(void *to, const char *name, const char *value)
{
    struct words *w = to;
    add(w, "%s %s=%s", w->any ? "," : ":", name, value);
    w->any = true;
}

void cairn_event_name(char out[CAIRN_VALUE_TEXT_MOST], const struct cairn_provider *o)
{
    out[0] = '\0';
    if (o->about)
        snprintf(out, CAIRN_VALUE_TEXT_MOST, "%s", cairn_about_name((enum cairn_about)o->about));
    else if (o->schema.at)
        cairn_tracelogging_name(out, o->schema);
    else if (o->class_event)
        snprintf(out, CAIRN_VALUE_TEXT_MOST, "%s", o->class_event);
    else if (o->info.at)
        cairn_event_info_name(out, o->info);
}

static enum cairn_fit provider_fields(const struct cairn_log *log, const struct cairn_event *e,
                                      const struct cairn_provider *o, cairn_tell_field *tell, void *to)
{
    char text[CAIRN_VALUE_TEXT_MOST], stack[CAIRN_STACK_TEXT];
    enum cairn_fit fit = CAIRN_FIT_UNKNOWN;
    struct cairn_bytes payload = o->payload;
    if (o->damaged) {
        return CAIRN_FIT_SHORT;
    } else if (o->about) {
        const bool whole = cairn_about_fields((enum cairn_about)o->about, payload, tell, to);
        fit = whole ? CAIRN_FIT_WHOLE : CAIRN_FIT_SHORT;
    } else if (o->class_event) {
        return cairn_class_event_fields(log, e, tell, to);
    } else if (o->schema.at) {
        fit = cairn_tracelogging_fields(o->schema, payload, tell, to) ? CAIRN_FIT_WHOLE : CAIRN_FIT_SHORT;
    } else if (o->info.at) {
        const struct cairn_event_maps *maps = &log->etl->descriptions.maps;
        fit = cairn_event_info_fields(o->info, maps, payload, o->pointer, tell, to) ? CAIRN_FIT_WHOLE : CAIRN_FIT_SHORT;
    } else if (o->string) {
        fit = cairn_value_take(text, &payload, (struct cairn_value_type){CAIRN_VALUE_TEXT, 2}) ? CAIRN_FIT_WHOLE
                                                                                               : CAIRN_FIT_SHORT;
        tell(to, "string", text);
    }
    if (o->stack.at)
        tell(to, "stack", cairn_stack_text(stack, log, e->pid, e->time, o->stack, o->stack_pointer));
    return fit;
}

enum cairn_fit cairn_event_fields(const struct cairn_log *log, const struct cairn_event *e, cairn_tell_field *tell,
                                  void *to)
{
    struct cairn_provider provider;
    return cairn_provider_read(&provider, log, e) ? provider_fields(log, e, &provider, tell, to)
                                                  : cairn_kernel_fields(log, e, tell, to);
}

static void add_provider(struct words *w, const struct cairn_event *e, const struct cairn_provider *o)
{
    char guid[CAIRN_GUID_TEXT] = "a class without a name", name[CAIRN_VALUE_TEXT_MOST];
    if (o->guid)
        cairn_guid_text(guid, o->guid);
    cairn_event_name(name, o);
    if (name[0])
        add(w, "%s of %s", name, o->name[0] ? o->name : guid);
    else
        add(w, "%s %u of %s", o->described ? "event" : "type", e->id, o->name[0] ? o->name : guid);
    add(w, ", PID %" PRIu32 ", TID %" PRIu32, e->pid, e->tid);
    if (!o->described || o->damaged || o->about || o->schema.at || o->info.at || o->string)
        return;
    add(w, ", level %u, opcode %u, keyword 0x%" PRIx64 ", %" PRIu32 " byte%s", o->level, o->opcode, o->keyword,
        o->payload.size, o->payload.size == 1 ? "" : "s");
}

const char *cairn_event_text(char out[CAIRN_EVENT_TEXT], const struct cairn_log *log, const struct cairn_event *e,
                             const struct cairn_live *live)
{
    struct words w = {.out = out};
    struct cairn_provider provider;
    char text[CAIRN_SHOWN_EVENT];
    _Static_assert(CAIRN_LIVE_TEXT <= CAIRN_EVENT_TEXT, "text of events");
    if (live)
        return cairn_live_show(out, log, live);
    if (cairn_provider_read(&provider, log, e))
        add_provider(&w, e, &provider);
    else
        add(&w, "%s", cairn_show_event(text, log, e));
    const enum cairn_fit fit = cairn_event_fields(log, e, add_field, &w);
    if (fit == CAIRN_FIT_SHORT)
        add(&w, "%s its bytes are not as its %s", w.any ? ";" : ":",
            provider.damaged     ? "header says"
            : provider.schema.at ? "schema says"
            : provider.info.at   ? "description says"
                                 : "version has them");
    return out;
}
