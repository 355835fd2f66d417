/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/slice.h"
#include "tools/cairn/log/etl/described/manifest.h"

#define TEXT_MOST   1023u /* bytes of a text: what is shown has no room for more */
#define FIELDS_MOST 2048u /* of an event */

struct writer {
    const struct cairn_manifest *m;
    struct cairn_manifest_parts *parts;
    const uint8_t *provider;
    size_t from; /* where the structure begins from which offsets count */
};

/* ---- looking up -------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const struct cairn_manifest_list *x = a, *y = b;
    const int c = strcmp(x->name, y->name);
    return c ? c : (x->first > y->first) - (x->first < y->first);
}

static int by_id(const void *a, const void *b)
{
    const struct cairn_manifest_string *x = a, *y = b;
    const int c = strcmp(x->id, y->id);
    return c ? c : ((uintptr_t)x->id > (uintptr_t)y->id) - ((uintptr_t)x->id < (uintptr_t)y->id);
}

/* Of several templates or strings of one name, as those of more than one language are, the first counts. */
static void order(struct cairn_manifest *m)
{
    struct cairn_manifest_list *t = m->templates.items;
    struct cairn_manifest_string *s = m->strings.items;
    size_t templates = 0, strings = 0;
    if (m->templates.count)
        qsort(t, m->templates.count, sizeof(*t), by_name);
    if (m->strings.count)
        qsort(s, m->strings.count, sizeof(*s), by_id);
    for (size_t i = 0; i < m->templates.count; i++)
        if (!templates || strcmp(t[i].name, t[templates - 1].name) != 0)
            t[templates++] = t[i];
    for (size_t i = 0; i < m->strings.count; i++)
        if (!strings || strcmp(s[i].id, s[strings - 1].id) != 0)
            s[strings++] = s[i];
    m->templates.count = templates;
    m->strings.count = strings;
}

static int name_of(const void *name, const void *list)
{
    return strcmp(name, ((const struct cairn_manifest_list *)list)->name);
}

static int id_of(const void *id, const void *string)
{
    return strcmp(id, ((const struct cairn_manifest_string *)string)->id);
}

/* What "$(string.ID)" stands for; any other text is itself. */
static const char *said(const struct cairn_manifest *m, const char *message)
{
    static const char begins[] = "$(string.";
    char id[TEXT_MOST + 1];
    const size_t length = strlen(message), before = sizeof(begins) - 1;
    if (length <= before || length - before > TEXT_MOST || memcmp(message, begins, before) != 0 ||
        message[length - 1] != ')')
        return message;
    cairn_slice_text(id, sizeof(id), (struct cairn_slice){message + before, (uint32_t)(length - before - 1)});
    const struct cairn_manifest_string *s =
        m->strings.count ? bsearch(id, m->strings.items, m->strings.count, sizeof(*s), id_of) : NULL;
    return s ? s->text : "";
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static void put16(struct writer *w, uint32_t unit)
{
    *CAIRN_ADD(w->parts->bytes) = (uint8_t)unit;
    *CAIRN_ADD(w->parts->bytes) = (uint8_t)(unit >> 8);
}

static void put_zeros(struct writer *w, size_t size)
{
    while (size--)
        *CAIRN_ADD(w->parts->bytes) = 0;
}

/* Without its end. expat has checked that it is UTF-8. */
static void put_characters(struct writer *w, struct cairn_slice text)
{
    const uint8_t *p = (const uint8_t *)text.at, *end = p + (text.size < TEXT_MOST ? text.size : TEXT_MOST);
    for (unsigned n; p < end && (n = cairn_utf8(p, (size_t)(end - p))); p += n) {
        uint32_t c = cairn_utf8_value(p, n);
        if (c >= 0x10000) {
            put16(w, 0xD800 + ((c - 0x10000) >> 10));
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        put16(w, c);
    }
}

/* Its offset, 0 where it is empty. */
static uint32_t put_text(struct writer *w, const char *text)
{
    const size_t at = w->parts->bytes.count - w->from;
    if (!*text)
        return 0;
    put_characters(w, cairn_slice_of(text));
    put16(w, 0);
    return (uint32_t)at;
}

/* "A B": each with its 0, and one that is empty. */
static uint32_t put_words(struct writer *w, const char *words)
{
    const size_t at = w->parts->bytes.count - w->from;
    words += strspn(words, " ");
    if (!*words)
        return 0;
    for (size_t size; *words; words += size + strspn(words + size, " ")) {
        size = strcspn(words, " ");
        put_characters(w, (struct cairn_slice){words, (uint32_t)size});
        put16(w, 0);
    }
    put16(w, 0);
    return (uint32_t)at;
}

static void set(struct writer *w, size_t at, const void *data, size_t size)
{
    memcpy(w->parts->bytes.items + w->from + at, data, size);
}

/* The part that began at `at`; one that has come beyond the room is taken back. */
static void end_part(struct writer *w, size_t at, bool map)
{
    w->parts->full = w->parts->bytes.count > w->parts->most;
    if (w->parts->full)
        w->parts->bytes.count = at;
    else
        *CAIRN_ADD(w->parts->list) = (struct cairn_manifest_part){at, (uint32_t)(w->parts->bytes.count - at), map};
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static void write_fields(struct writer *w, const struct cairn_manifest_list *template)
{
    for (uint32_t i = 0; i < template->count && w->parts->bytes.count <= w->parts->most; i++) {
        const struct cairn_manifest_field *f = &w->m->fields.items[template->first + i];
        const struct event_property p = {
            .flags = f->flags,
            .name = put_text(w, f->name),
            .in_or_first = f->in,
            .out_or_many = f->out,
            .map_name = put_text(w, f->map),
            .count = f->count,
            .length = f->length,
        };
        set(w, sizeof(struct event_info) + i * sizeof(p), &p, sizeof(p));
    }
}

static void write_event(struct writer *w, const struct cairn_manifest_event *e)
{
    static const struct cairn_manifest_list nothing = {.good = true};
    const struct cairn_manifest *m = w->m;
    const struct cairn_manifest_list *template = &nothing;
    if (*e->template)
        template = m->templates.count
                       ? bsearch(e->template, m->templates.items, m->templates.count, sizeof(*template), name_of)
                       : NULL;
    if (!template || !template->good || template->count > FIELDS_MOST)
        return;
    w->from = w->parts->bytes.count;
    put_zeros(w, sizeof(struct event_info) + template->count * sizeof(struct event_property));
    struct event_info info = {
        .descriptor = {.id = e->id, .version = e->version},
        .decoding = EVENT_DECODING_XML,
        .provider_name = put_text(w, m->provider),
        .level_name = put_text(w, e->level),
        .keyword_names = put_words(w, e->keywords),
        .task_name = put_text(w, e->task),
        .opcode_name = put_text(w, e->opcode),
        .event_message = put_text(w, said(m, e->message)),
        .event_name = *e->task ? 0 : put_text(w, e->symbol),
        .properties = template->count,
        .top_level = template->count,
    };
    memcpy(info.provider, w->provider, sizeof(info.provider));
    set(w, 0, &info, sizeof(info));
    write_fields(w, template);
    end_part(w, w->from, false);
}

static void write_map(struct writer *w, const struct cairn_manifest_list *list)
{
    const size_t at = w->parts->bytes.count;
    put_zeros(w, EVENT_GUID_BYTES);
    w->from = at;
    set(w, 0, w->provider, EVENT_GUID_BYTES);
    w->from = at + EVENT_GUID_BYTES;
    put_zeros(w, sizeof(struct event_map) + list->count * sizeof(struct event_map_entry));
    const struct event_map map = {
        .name = put_text(w, list->name),
        .flag = list->good ? EVENT_MAP_VALUES : EVENT_MAP_BITS,
        .entries = list->count,
    };
    set(w, 0, &map, sizeof(map));
    for (uint32_t i = 0; i < list->count && w->parts->bytes.count <= w->parts->most; i++) {
        const struct cairn_manifest_value *v = &w->m->values.items[list->first + i];
        const struct event_map_entry entry = {put_text(w, said(w->m, v->message)), v->value};
        set(w, sizeof(map) + i * sizeof(entry), &entry, sizeof(entry));
    }
    end_part(w, at, true);
}

void cairn_manifest_write(struct cairn_manifest *m, const uint8_t *provider, struct cairn_manifest_parts *parts)
{
    struct writer w = {.m = m, .parts = parts, .provider = provider};
    order(m);
    for (size_t i = 0; i < m->events.count && !parts->full; i++)
        write_event(&w, &m->events.items[i]);
    for (size_t i = 0; i < m->maps.count && !parts->full; i++)
        write_map(&w, &m->maps.items[i]);
}
