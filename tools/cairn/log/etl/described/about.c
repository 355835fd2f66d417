/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/described/about.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/event/etl_layout.h"
#include "tools/cairn/log/etl/described/event_info.h"

enum cairn_about cairn_about_of(const struct cairn_provider *o, const struct cairn_event *e)
{
    static const uint8_t metadata[] = EVENT_METADATA_GUID;
    if (o->described)
        return e->id == EVENT_SOURCE_MANIFEST_ID && o->task == EVENT_SOURCE_MANIFEST_TASK &&
                       o->opcode == EVENT_SOURCE_MANIFEST_OP
                   ? CAIRN_ABOUT_SOURCE
                   : CAIRN_ABOUT_NOTHING;
    if (!o->guid || memcmp(o->guid, metadata, sizeof(metadata)) != 0)
        return CAIRN_ABOUT_NOTHING;
    return e->id == EVENT_METADATA_EVENT_INFO ? CAIRN_ABOUT_EVENT
           : e->id == EVENT_METADATA_MAP_INFO ? CAIRN_ABOUT_MAP
                                              : CAIRN_ABOUT_NOTHING;
}

const char *cairn_about_name(enum cairn_about about)
{
    static const char *const names[] = {"", "EventInfo", "EventMapInfo", "ManifestData"};
    return names[about];
}

static void tell_number(cairn_tell_field *tell, void *to, const char *name, uint32_t number)
{
    char text[16];
    snprintf(text, sizeof(text), "%" PRIu32, number);
    tell(to, name, text);
}

static void tell_guid(cairn_tell_field *tell, void *to, const uint8_t *guid)
{
    char text[CAIRN_GUID_TEXT];
    tell(to, "provider", cairn_guid_text(text, guid));
}

static bool event_fields(struct cairn_bytes info, cairn_tell_field *tell, void *to)
{
    struct event_info head;
    char name[CAIRN_VALUE_TEXT_MOST];
    if (!cairn_event_info_is(info))
        return false;
    memcpy(&head, info.at, sizeof(head));
    const bool class = head.decoding == EVENT_DECODING_WBEM;
    tell_guid(tell, to, class ? head.event : head.provider);
    tell_number(tell, to, class ? "type" : "id", class ? head.descriptor.opcode : head.descriptor.id);
    tell_number(tell, to, "version", head.descriptor.version);
    cairn_event_info_name(name, info);
    tell(to, "name", name);
    return true;
}

static bool map_fields(struct cairn_bytes map, cairn_tell_field *tell, void *to)
{
    const uint8_t *provider = cairn_bytes_take(&map, EVENT_GUID_BYTES);
    char name[CAIRN_VALUE_TEXT_MOST];
    if (!provider || map.size < sizeof(struct event_map))
        return false;
    tell_guid(tell, to, provider);
    cairn_value_text_at(name, sizeof(name), map, cairn_get32(map.at + offsetof(struct event_map, name)));
    tell(to, "name", name);
    tell_number(tell, to, "entries", cairn_get32(map.at + offsetof(struct event_map, entries)));
    return true;
}

static bool source_fields(struct cairn_bytes payload, cairn_tell_field *tell, void *to)
{
    struct event_source_envelope envelope;
    char text[32];
    if (payload.size < sizeof(envelope))
        return false;
    memcpy(&envelope, payload.at, sizeof(envelope));
    snprintf(text, sizeof(text), "%u of %u", envelope.chunk + 1u, envelope.chunks);
    tell(to, "chunk", text);
    tell_number(tell, to, "bytes", payload.size - (uint32_t)sizeof(envelope));
    return envelope.magic == EVENT_SOURCE_MAGIC;
}

bool cairn_about_fields(enum cairn_about about, struct cairn_bytes payload, cairn_tell_field *tell, void *to)
{
    return about == CAIRN_ABOUT_EVENT ? event_fields(payload, tell, to)
           : about == CAIRN_ABOUT_MAP ? map_fields(payload, tell, to)
                                      : source_fields(payload, tell, to);
}
