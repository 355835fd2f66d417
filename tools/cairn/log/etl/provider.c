/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/provider.h"

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/printable.h"
#include "tools/cairn/event/etl_layout.h"
#include "tools/cairn/event/event_info_layout.h"
#include "tools/cairn/log/etl/described/about.h"

static const uint8_t *guid_or_null(const uint8_t *guid)
{
    static const uint8_t none[EVENT_GUID_BYTES];
    return memcmp(guid, none, sizeof(none)) ? guid : NULL;
}

/* Provider traits: their size, the name, and what nobody here reads. */
static void read_traits(struct cairn_provider *o, struct cairn_bytes data)
{
    if (!cairn_bytes_take(&data, 2))
        return;
    cairn_printable(o->name, sizeof(o->name), data.at, data.size, 1);
}

static void read_item(struct cairn_provider *o, uint16_t type, struct cairn_bytes data)
{
    switch (type) {
    case ETL_ITEM_PROVIDER_TRAITS:
        read_traits(o, data);
        break;
    case ETL_ITEM_SCHEMA:
        o->schema = data;
        break;
    case ETL_ITEM_STACK32:
    case ETL_ITEM_STACK64:
        o->stack_pointer = type == ETL_ITEM_STACK32 ? 4 : 8;
        if (cairn_bytes_take(&data, ETL_ITEM_STACK_FRAMES))
            o->stack = data;
        break;
    case ETL_ITEM_RELATED_ACTIVITY:
        o->related = data.size == EVENT_GUID_BYTES ? guid_or_null(data.at) : NULL;
        break;
    default: /* user, session, counters: not shown */
        break;
    }
}

/* The items, each of whole 8 bytes, up to the one that none follows. False: they end before that. */
static bool read_items(struct cairn_provider *o, struct cairn_bytes *rest)
{
    bool more = true;
    while (more) {
        const uint16_t size = rest->size >= ETL_ITEM_BYTES ? cairn_get16(rest->at) : 0;
        const uint8_t *p = size >= ETL_ITEM_BYTES && size % 8 == 0 ? cairn_bytes_take(rest, size) : NULL;
        if (!p)
            return false;
        const struct cairn_bytes data = {p + ETL_ITEM_BYTES, cairn_get16(p + ETL_ITEM_DATA_SIZE)};
        if (data.size > (uint32_t)size - ETL_ITEM_BYTES)
            return false;
        read_item(o, cairn_get16(p + ETL_ITEM_TYPE), data);
        more = cairn_get16(p + ETL_ITEM_LINKAGE) & ETL_ITEM_MORE;
    }
    return true;
}

/* EVENT_HEADER. */
static void read_descriptor(struct cairn_provider *o, const uint8_t *header)
{
    struct event_descriptor d;
    memcpy(&d, header + ETL_EVENT_ID, sizeof(d));
    o->described = true;
    o->level = d.level;
    o->opcode = d.opcode;
    o->channel = d.channel;
    o->task = d.task;
    o->keyword = d.keyword;
    o->activity = guid_or_null(header + ETL_EVENT_ACTIVITY);
}

bool cairn_provider_header(struct cairn_provider *o, const struct cairn_event *e)
{
    const uint8_t *header = e->payload - e->head;
    *o = (struct cairn_provider){.guid = e->provider, .payload = {e->payload, e->size}};
    if (e->header == ETL_FULL32 || e->header == ETL_FULL64 || e->header == ETL_INSTANCE32 ||
        e->header == ETL_INSTANCE64) {
        o->level = header[ETL_FULL_LEVEL];
        o->about = (uint8_t)cairn_about_of(o, e);
        o->pointer = e->header == ETL_FULL32 || e->header == ETL_INSTANCE32 ? 4 : 8;
        return true;
    }
    if (e->header != ETL_EVENT32 && e->header != ETL_EVENT64)
        return false;
    const uint16_t flags = cairn_get16(header + ETL_EVENT_FLAGS);
    read_descriptor(o, header);
    o->string = flags & ETL_EVENT_STRING;
    o->pointer =
        e->header == ETL_EVENT32 || flags & ETL_EVENT_32_BIT ? 4 : 8; /* of the process: files have the former */
    if (flags & ETL_EVENT_EXTENDED && !read_items(o, &o->payload)) {
        *o = (struct cairn_provider){.guid = e->provider, .payload = {e->payload, e->size}, .damaged = true};
        read_descriptor(o, header);
    }
    o->about = o->damaged ? CAIRN_ABOUT_NOTHING : (uint8_t)cairn_about_of(o, e);
    return true;
}
