/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/described/event_info.h"

#include <stdio.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/event/etl_layout.h"
#include "tools/cairn/log/etl/value_types.h"

#define PROPERTIES_MOST (UINT16_MAX / sizeof(struct event_property)) /* an event has no room for more */
#define DEPTH_MOST      8u                                           /* of structures in each other */
#define EMPTY_MOST      256u /* values of an event that take no byte: what a false count may cost */
#define KEYWORDS_MOST   64u
#define NAME_MOST       256u

struct reader {
    struct cairn_bytes info, payload;
    const struct cairn_event_maps *maps;
    unsigned pointer;
    cairn_tell_field *tell;
    void *to;
    uint32_t properties, empty;
    uint32_t *seen; /* of each the number that it had last: counts and lengths of others */
};

/* ---- names ------------------------------------------------------------------------------------------------------- */

bool cairn_event_info_is(struct cairn_bytes info)
{
    return info.size >= sizeof(struct event_info);
}

const char *cairn_event_info_text(char *out, uint32_t room, struct cairn_bytes info, size_t field)
{
    cairn_value_text_at(out, room, info, cairn_get32(info.at + field));
    return out;
}

void cairn_event_info_name(char out[CAIRN_VALUE_TEXT_MOST], struct cairn_bytes info)
{
    char task[NAME_MOST], opcode[NAME_MOST];
    cairn_event_info_text(task, NAME_MOST, info, offsetof(struct event_info, task_name));
    cairn_event_info_text(opcode, NAME_MOST, info, offsetof(struct event_info, opcode_name));
    out[0] = '\0';
    if (cairn_get32(info.at + offsetof(struct event_info, decoding)) == EVENT_DECODING_XML)
        cairn_event_info_text(out, NAME_MOST, info, offsetof(struct event_info, event_name));
    const char *plain = strncmp(opcode, "win:", 4) == 0 ? opcode + 4 : opcode;
    const bool says = *plain && strcmp(plain, "Info") != 0;
    if (!*out)
        snprintf(out, CAIRN_VALUE_TEXT_MOST, "%s%s%s", task, *task && says ? "/" : "", says ? plain : "");
}

void cairn_event_info_keywords(struct cairn_bytes info, void (*tell)(void *to, const char *name), void *to)
{
    uint32_t at = cairn_get32(info.at + offsetof(struct event_info, keyword_names));
    char name[NAME_MOST];
    for (unsigned i = 0; i < KEYWORDS_MOST; i++) {
        const uint32_t bytes = cairn_value_text_at(name, sizeof(name), info, at);
        if (*name)
            tell(to, name);
        if (!*name || !bytes)
            return;
        at += bytes;
    }
}

/* ---- a value ----------------------------------------------------------------------------------------------------- */

/* How one of a type beyond TraceLogging's is read. */
static bool wbem_type(struct cairn_value_type *type, uint16_t in, unsigned pointer)
{
    switch (in) {
    case EVENT_IN_COUNTED:
    case EVENT_IN_COUNTED_ANSI:
        *type = (struct cairn_value_type){CAIRN_VALUE_COUNTED, in == EVENT_IN_COUNTED ? 2 : 1};
        return true;
    case EVENT_IN_REVERSED_COUNTED:
    case EVENT_IN_REVERSED_COUNTED_ANSI:
        *type = (struct cairn_value_type){CAIRN_VALUE_REVERSED, in == EVENT_IN_REVERSED_COUNTED ? 2 : 1};
        return true;
    case EVENT_IN_REST:
    case EVENT_IN_REST_ANSI:
        *type = (struct cairn_value_type){CAIRN_VALUE_REST, in == EVENT_IN_REST ? 2 : 1};
        return true;
    case EVENT_IN_CHARACTER:
    case EVENT_IN_CHARACTER_ANSI:
        *type = (struct cairn_value_type){CAIRN_VALUE_CHARACTER, in == EVENT_IN_CHARACTER ? 2 : 1};
        return true;
    case EVENT_IN_SIZE:
        *type = (struct cairn_value_type){CAIRN_VALUE_UNSIGNED, (uint8_t)pointer};
        return true;
    case EVENT_IN_HEX_DUMP:
        *type = (struct cairn_value_type){CAIRN_VALUE_HEX_DUMP, 1};
        return true;
    case EVENT_IN_TOKEN_SID:
        *type = (struct cairn_value_type){CAIRN_VALUE_TOKEN_SID, (uint8_t)pointer};
        return true;
    default:
        return false;
    }
}

static enum cairn_value look_of(uint16_t out)
{
    switch (out) {
    case EVENT_OUT_STRING:
        return CAIRN_VALUE_CHARACTER;
    case EVENT_OUT_BOOLEAN:
        return CAIRN_VALUE_BOOL;
    case EVENT_OUT_PORT:
        return CAIRN_VALUE_PORT;
    case EVENT_OUT_IPV4:
        return CAIRN_VALUE_IPV4;
    case EVENT_OUT_IPV6:
        return CAIRN_VALUE_BINARY_IPV6;
    case EVENT_OUT_NTSTATUS:
    case EVENT_OUT_HRESULT:
    case EVENT_OUT_CODE_POINTER:
        return CAIRN_VALUE_HEX;
    default:
        return out >= EVENT_OUT_HEX8 && out <= EVENT_OUT_HEX64 ? CAIRN_VALUE_HEX : CAIRN_VALUE_NOTHING;
    }
}

static bool type_of(struct cairn_value_type *type, const struct event_property *p, unsigned pointer)
{
    return cairn_value_type_of(type, p->in_or_first, pointer, look_of(p->out_or_many)) ||
           wbem_type(type, p->in_or_first, pointer);
}

/* The number that another property had. False: there is no such property. */
static bool told_by(const struct reader *r, uint16_t index, uint32_t *number)
{
    if (index >= r->properties)
        return false;
    *number = r->seen[index];
    return true;
}

/* Bytes of a text or of bytes whose length the description has. False: that is wrong. `sized`: it has one. */
static bool size_of(const struct reader *r, const struct event_property *p, struct cairn_value_type type,
                    uint32_t *size, bool *sized)
{
    const bool bytes = p->in_or_first == ETL_TL_BINARY;
    *size = p->length;
    *sized = bytes || (type.kind == CAIRN_VALUE_TEXT && (p->length || p->flags & EVENT_PROPERTY_LENGTH_INDEX));
    if (!*sized)
        return true;
    if (p->flags & EVENT_PROPERTY_LENGTH_INDEX && !told_by(r, p->length, size))
        return false;
    if (bytes && !*size && type.kind == CAIRN_VALUE_BINARY_IPV6)
        *size = 16; /* Microsoft's manifests need no length there */
    if (*size > r->payload.size)
        return false;
    *size *= type.bytes;
    return true;
}

static bool is_number(struct cairn_value_type type)
{
    return type.kind == CAIRN_VALUE_UNSIGNED || type.kind == CAIRN_VALUE_SIGNED || type.kind == CAIRN_VALUE_HEX ||
           type.kind == CAIRN_VALUE_BOOL;
}

/* Keeps for others the number whose bytes are there. */
static uint64_t keep(struct reader *r, uint32_t index, const uint8_t *at, struct cairn_value_type type)
{
    uint64_t number = 0;
    memcpy(&number, at, type.bytes);
    r->seen[index] = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
    return number;
}

/* Takes so many numbers off, which are not shown. False: they are none, or there are fewer, and nothing is taken. */
static bool skip_numbers(struct reader *r, uint32_t index, const struct event_property *p, uint32_t count)
{
    struct cairn_value_type type;
    if (!type_of(&type, p, r->pointer) || !is_number(type) || count > r->payload.size / type.bytes)
        return false;
    const uint8_t *at = cairn_bytes_take(&r->payload, count * type.bytes);
    keep(r, index, at + (count - 1) * type.bytes, type);
    return true;
}

/* Takes one off as text; its number, where it has one, is kept for others. `map`: with names for it, or NULL. */
static bool take_one(struct reader *r, uint32_t index, const struct event_property *p,
                     const struct cairn_event_map *map, char out[CAIRN_VALUE_TEXT_MOST])
{
    struct cairn_value_type type;
    uint32_t size;
    bool sized;
    const uint8_t *at = r->payload.at;
    if (!type_of(&type, p, r->pointer) || !size_of(r, p, type, &size, &sized))
        return false;
    if (sized ? !cairn_value_sized(out, &r->payload, type, size) : !cairn_value_take(out, &r->payload, type))
        return false;
    if (!is_number(type))
        return true;
    const uint64_t number = keep(r, index, at, type);
    if (map)
        cairn_event_map_show(out, r->maps, map, number, type.bytes);
    return true;
}

/* ---- properties -------------------------------------------------------------------------------------------------- */

static bool take_property(struct reader *r, uint32_t index, const char *outer, unsigned depth);

/* What takes no byte is counted. False: there is too much of it. */
static bool spent(struct reader *r, uint32_t before)
{
    return r->payload.size != before || ++r->empty <= EMPTY_MOST;
}

static bool take_members(struct reader *r, const struct event_property *p, const char *name, unsigned depth)
{
    if ((uint32_t)p->in_or_first + p->out_or_many > r->properties)
        return false;
    for (uint32_t i = 0; i < p->out_or_many; i++)
        if (!take_property(r, p->in_or_first + i, name, depth + 1))
            return false;
    return true;
}

static bool take_structures(struct reader *r, const struct event_property *p, const char *name, uint32_t count,
                            bool array, unsigned depth)
{
    char element[CAIRN_VALUE_TEXT_MOST + 16];
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t before = r->payload.size;
        snprintf(element, sizeof(element), array ? "%s[%u]" : "%s", name, i);
        if (!take_members(r, p, element, depth) || !spent(r, before))
            return false;
    }
    return true;
}

static bool take_values(struct reader *r, uint32_t index, const struct event_property *p, const char *name,
                        uint32_t count, bool array)
{
    const struct cairn_event_map *map = p->map_name ? cairn_event_map_find(r->maps, r->info, p->map_name) : NULL;
    struct cairn_value_list list;
    char one[CAIRN_VALUE_TEXT_MOST];
    memset(&list, 0, array ? sizeof(list) : 0);
    for (uint32_t i = 0; i < count && !(array && list.cut && skip_numbers(r, index, p, count - i)); i++) {
        const uint32_t before = r->payload.size;
        if (!take_one(r, index, p, map, one) || !spent(r, before))
            return false;
        if (array)
            cairn_value_list_add(&list, one);
    }
    r->tell(r->to, name, array ? cairn_value_list_text(&list) : one);
    return true;
}

static bool take_property(struct reader *r, uint32_t index, const char *outer, unsigned depth)
{
    struct event_property p;
    char own[NAME_MOST], name[CAIRN_VALUE_TEXT_MOST];
    if (index >= r->properties || depth > DEPTH_MOST)
        return false;
    memcpy(&p, r->info.at + sizeof(struct event_info) + index * sizeof(p), sizeof(p));
    uint32_t count = p.count;
    if (p.flags & EVENT_PROPERTY_COUNT_INDEX && !told_by(r, p.count, &count))
        return false;
    const bool array = p.flags & (EVENT_PROPERTY_COUNT_INDEX | EVENT_PROPERTY_FIXED_COUNT) || count > 1;
    cairn_value_text_at(own, sizeof(own), r->info, p.name);
    if ((size_t)snprintf(name, sizeof(name), "%s%s%s", outer, depth ? "." : "", own) >= sizeof(name))
        return false; /* no name is that long */
    count = array ? count : 1;
    if (!count && !spent(r, r->payload.size))
        return false;
    return p.flags & EVENT_PROPERTY_STRUCT ? take_structures(r, &p, name, count, array, depth)
                                           : take_values(r, index, &p, name, count, array);
}

bool cairn_event_info_fields(struct cairn_bytes info, const struct cairn_event_maps *maps, struct cairn_bytes payload,
                             unsigned pointer, cairn_tell_field *tell, void *to)
{
    uint32_t seen[PROPERTIES_MOST];
    struct reader r = {
        .info = info, .payload = payload, .maps = maps, .pointer = pointer, .tell = tell, .to = to, .seen = seen};
    struct event_info head;
    memcpy(&head, info.at, sizeof(head));
    if (head.properties > (info.size - sizeof(head)) / sizeof(struct event_property) ||
        head.properties > PROPERTIES_MOST || head.top_level > head.properties)
        return false;
    r.properties = head.properties;
    memset(seen, 0, head.properties * sizeof(*seen));
    for (uint32_t i = 0; i < head.top_level; i++)
        if (!take_property(&r, i, "", 0))
            return false;
    return !r.payload.size;
}
