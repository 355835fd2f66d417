/* SPDX-License-Identifier: MIT */
#include <expat.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/slice.h"
#include "tools/cairn/event/etl_layout.h"
#include "tools/cairn/log/etl/described/manifest.h"

#define DEPTH_MOST 32u  /* of elements: a manifest has 8 */
#define BACK_MOST  256u /* fields before one, among which that with its length is */

struct reader {
    XML_Parser parser;
    struct cairn_manifest *m;
    const char **attributes; /* of the element that begins */
    unsigned depth;
    bool in_template, in_map;
};

/* ---- attributes -------------------------------------------------------------------------------------------------- */

static const char *attribute(const struct reader *r, const char *name)
{
    for (const char **at = r->attributes; *at; at += 2)
        if (strcmp(at[0], name) == 0)
            return at[1];
    return "";
}

/* A copy that stays; "" where it is empty or missing. */
static const char *kept(const struct reader *r, const char *name)
{
    struct cairn_manifest *m = r->m;
    const char *text = attribute(r, name);
    const size_t size = strlen(text) + 1;
    if (size == 1 || size > m->room - m->used)
        return "";
    char *to = memcpy(m->text + m->used, text, size);
    m->used += size;
    return to;
}

/* 0 where it is no number. */
static uint64_t number(const struct reader *r, const char *name)
{
    uint64_t value;
    return cairn_slice_u64(cairn_slice_of(attribute(r, name)), &value) ? value : 0;
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

struct named_type {
    const char *name; /* behind "win:" or "xs:" */
    uint16_t type;
};

static bool find_type(const char *text, const struct named_type *types, size_t count, uint16_t *type)
{
    const char *colon = strchr(text, ':');
    for (size_t i = 0; i < count; i++)
        if (strcmp(colon ? colon + 1 : text, types[i].name) == 0) {
            *type = types[i].type;
            return true;
        }
    return false;
}

static bool find_in(const char *text, uint16_t *type)
{
    static const struct named_type types[] = {
        {"UnicodeString", ETL_TL_UTF16},
        {"AnsiString", ETL_TL_ANSI},
        {"Int8", ETL_TL_INT8},
        {"UInt8", ETL_TL_UINT8},
        {"Int16", ETL_TL_INT16},
        {"UInt16", ETL_TL_UINT16},
        {"Int32", ETL_TL_INT32},
        {"UInt32", ETL_TL_UINT32},
        {"Int64", ETL_TL_INT64},
        {"UInt64", ETL_TL_UINT64},
        {"Float", ETL_TL_FLOAT},
        {"Double", ETL_TL_DOUBLE},
        {"Boolean", ETL_TL_BOOL32},
        {"Binary", ETL_TL_BINARY},
        {"GUID", ETL_TL_GUID},
        {"Pointer", ETL_TL_POINTER},
        {"FILETIME", ETL_TL_FILETIME},
        {"SYSTEMTIME", ETL_TL_SYSTEMTIME},
        {"SID", ETL_TL_SID},
        {"HexInt32", ETL_TL_HEX32},
        {"HexInt64", ETL_TL_HEX64},
        {"CountedUnicodeString", ETL_TL_COUNTED_UTF16},
        {"CountedAnsiString", ETL_TL_COUNTED_ANSI},
        {"CountedBinary", ETL_TL_COUNTED_BINARY},
    };
    return find_type(text, types, sizeof(types) / sizeof(types[0]), type);
}

/* Only what changes how a value is shown. */
static uint16_t find_out(const char *text)
{
    static const struct named_type types[] = {
        {"string", EVENT_OUT_STRING},     {"boolean", EVENT_OUT_BOOLEAN},   {"HexInt8", EVENT_OUT_HEX8},
        {"HexInt16", EVENT_OUT_HEX8 + 1}, {"HexInt32", EVENT_OUT_HEX8 + 2}, {"HexInt64", EVENT_OUT_HEX64},
        {"Port", EVENT_OUT_PORT},         {"IPv4", EVENT_OUT_IPV4},         {"IPv6", EVENT_OUT_IPV6},
        {"NTSTATUS", EVENT_OUT_NTSTATUS}, {"HResult", EVENT_OUT_HRESULT},   {"CodePointer", EVENT_OUT_CODE_POINTER},
    };
    uint16_t out = 0;
    return find_type(text, types, sizeof(types) / sizeof(types[0]), &out) ? out : 0;
}

/* A count or length: a number, or the name of a field before this one, whose index it is then; `by_index` is set in
 * the flags. False: neither. */
static bool read_size(const struct reader *r, const struct cairn_manifest_list *t, const char *name, uint32_t by_index,
                      struct cairn_manifest_field *f, uint16_t *size)
{
    const char *text = attribute(r, name);
    uint64_t value;
    if (!*text)
        return true;
    if (cairn_slice_u64(cairn_slice_of(text), &value)) {
        *size = (uint16_t)value;
        return value <= UINT16_MAX;
    }
    for (uint32_t back = 1; back <= t->count && back <= BACK_MOST; back++) {
        const uint32_t index = t->count - back;
        if (index <= UINT16_MAX && strcmp(r->m->fields.items[t->first + index].name, text) == 0) {
            *size = (uint16_t)index;
            f->flags |= by_index;
            return true;
        }
    }
    return false;
}

/* In the template that is open. */
static void read_data(struct reader *r)
{
    struct cairn_manifest *m = r->m;
    struct cairn_manifest_list *t = &m->templates.items[m->templates.count - 1];
    struct cairn_manifest_field f = {.name = kept(r, "name"), .map = kept(r, "map"), .count = 1};
    t->good &= find_in(attribute(r, "inType"), &f.in) &&
               read_size(r, t, "length", EVENT_PROPERTY_LENGTH_INDEX, &f, &f.length) &&
               read_size(r, t, "count", EVENT_PROPERTY_COUNT_INDEX, &f, &f.count);
    f.out = find_out(attribute(r, "outType"));
    *CAIRN_ADD(m->fields) = f;
    t->count++;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

static void read_event(struct reader *r)
{
    const uint64_t id = number(r, "value"), version = number(r, "version");
    if (id > UINT16_MAX || version > UINT8_MAX)
        return; /* no event has such a one */
    const struct cairn_manifest_event e = {
        .id = (uint16_t)id,
        .version = (uint8_t)version,
        .symbol = kept(r, "symbol"),
        .level = kept(r, "level"),
        .opcode = kept(r, "opcode"),
        .task = kept(r, "task"),
        .keywords = kept(r, "keywords"),
        .message = kept(r, "message"),
        .template = kept(r, "template"),
    };
    *CAIRN_ADD(r->m->events) = e;
}

static void read_template(struct reader *r)
{
    struct cairn_manifest *m = r->m;
    const struct cairn_manifest_list t = {kept(r, "tid"), (uint32_t)m->fields.count, 0, true};
    *CAIRN_ADD(m->templates) = t;
    r->in_template = true;
}

static void read_map(struct reader *r, bool of_values)
{
    struct cairn_manifest *m = r->m;
    const struct cairn_manifest_list map = {kept(r, "name"), (uint32_t)m->values.count, 0, of_values};
    *CAIRN_ADD(m->maps) = map;
    r->in_map = true;
}

/* In the map that is open. */
static void read_value(struct reader *r)
{
    struct cairn_manifest *m = r->m;
    const struct cairn_manifest_value v = {kept(r, "message"), (uint32_t)number(r, "value")};
    *CAIRN_ADD(m->values) = v;
    m->maps.items[m->maps.count - 1].count++;
}

static void read_string(struct reader *r)
{
    const struct cairn_manifest_string s = {kept(r, "id"), kept(r, "value")};
    *CAIRN_ADD(r->m->strings) = s;
}

static void XMLCALL begin_element(void *to, const char *name, const char **attributes)
{
    struct reader *r = to;
    r->attributes = attributes;
    if (++r->depth > DEPTH_MOST)
        XML_StopParser(r->parser, XML_FALSE);
    else if (strcmp(name, "provider") == 0)
        r->m->provider = kept(r, "name");
    else if (strcmp(name, "event") == 0)
        read_event(r);
    else if (strcmp(name, "template") == 0)
        read_template(r);
    else if (strcmp(name, "data") == 0 && r->in_template)
        read_data(r);
    else if (r->in_template) /* a structure: EventSources have none */
        r->m->templates.items[r->m->templates.count - 1].good = false;
    else if (strcmp(name, "valueMap") == 0 || strcmp(name, "bitMap") == 0)
        read_map(r, *name == 'v');
    else if (strcmp(name, "map") == 0 && r->in_map)
        read_value(r);
    else if (strcmp(name, "string") == 0)
        read_string(r);
}

static void XMLCALL end_element(void *to, const char *name)
{
    struct reader *r = to;
    r->depth--;
    r->in_template &= strcmp(name, "template") != 0;
    r->in_map &= strcmp(name, "valueMap") != 0 && strcmp(name, "bitMap") != 0;
}

static void XMLCALL refuse_type(void *to, const char *name, const char *system, const char *public, int internal)
{
    struct reader *r = to;
    (void)name, (void)system, (void)public, (void)internal;
    XML_StopParser(r->parser, XML_FALSE);
}

bool cairn_manifest_parse(struct cairn_manifest *m, const char *xml, size_t size)
{
    struct reader r = {.parser = XML_ParserCreate("UTF-8"), .m = m};
    if (!r.parser)
        cairn_out_of_memory();
    *m = (struct cairn_manifest){.text = cairn_alloc(size + 1), .room = size + 1, .provider = ""};
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, begin_element, end_element);
    XML_SetStartDoctypeDeclHandler(r.parser, refuse_type);
    const bool good = XML_Parse(r.parser, xml, (int)size, XML_TRUE) == XML_STATUS_OK;
    XML_ParserFree(r.parser);
    return good;
}

void cairn_manifest_free(struct cairn_manifest *m)
{
    free(m->text);
    free(m->events.items);
    free(m->templates.items);
    free(m->maps.items);
    free(m->fields.items);
    free(m->values.items);
    free(m->strings.items);
}
