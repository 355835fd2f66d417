/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/described/descriptions.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/event/event_info_layout.h"
#include "tools/cairn/log/etl/described/about.h"

#define DESCRIPTIONS_MOST (1u << 20)

/* ---- which event a description is of ----------------------------------------------------------------------------- */

struct key {
    const uint8_t *guid;
    uint32_t number; /* class, ID or type, version */
};

static struct key key_as(const uint8_t *guid, bool class, uint16_t id, uint8_t version)
{
    return (struct key){guid, (uint32_t) class << 24 | (uint32_t)id << 8 | version};
}

static struct key key_of(const struct cairn_description *of)
{
    struct event_descriptor d;
    memcpy(&d, of->info + offsetof(struct event_info, descriptor), sizeof(d));
    return cairn_get32(of->info + offsetof(struct event_info, decoding)) == EVENT_DECODING_WBEM
               ? key_as(of->info + offsetof(struct event_info, event), true, d.opcode, d.version)
               : key_as(of->info, false, d.id, d.version);
}

static int compare(struct key a, struct key b)
{
    const int c = memcmp(a.guid, b.guid, EVENT_GUID_BYTES);
    return c ? c : (a.number > b.number) - (a.number < b.number);
}

static int by_key(const void *a, const void *b)
{
    const struct cairn_description *x = a, *y = b;
    const int c = compare(key_of(x), key_of(y));
    return c ? c : (x->order > y->order) - (x->order < y->order);
}

/* ---- gathering --------------------------------------------------------------------------------------------------- */

static void add_event(void *to, struct cairn_bytes info)
{
    struct cairn_descriptions *d = to;
    const bool whole = info.size >= sizeof(struct event_info);
    const uint32_t decoding = whole ? cairn_get32(info.at + offsetof(struct event_info, decoding)) : UINT32_MAX;
    if (decoding == EVENT_DECODING_TLG || decoding == EVENT_DECODING_WPP)
        return; /* of an event that describes itself, or of a message */
    if ((decoding != EVENT_DECODING_XML && decoding != EVENT_DECODING_WBEM) || d->events.count >= DESCRIPTIONS_MOST)
        d->unread++;
    else
        *CAIRN_ADD(d->events) = (struct cairn_description){info.at, info.size, (uint32_t)d->events.count};
}

/* The provider's GUID, then the map. */
static void add_map(void *to, struct cairn_bytes map)
{
    struct cairn_descriptions *d = to;
    const uint8_t *provider = cairn_bytes_take(&map, EVENT_GUID_BYTES);
    if (!provider || !cairn_event_maps_add(&d->maps, provider, map))
        d->unread++;
}

void cairn_descriptions_note(struct cairn_descriptions *d, const struct cairn_event *e)
{
    struct cairn_provider provider;
    if (!cairn_provider_header(&provider, e))
        return;
    switch ((enum cairn_about)provider.about) {
    case CAIRN_ABOUT_EVENT:
        add_event(d, provider.payload);
        break;
    case CAIRN_ABOUT_MAP:
        add_map(d, provider.payload);
        break;
    case CAIRN_ABOUT_SOURCE:
        cairn_manifests_note(&d->manifests, e, provider.payload);
        break;
    default:
        break;
    }
}

void cairn_descriptions_settle(struct cairn_descriptions *d)
{
    cairn_manifests_read(&d->manifests, add_event, add_map, d);
    cairn_event_maps_settle(&d->maps);
    if (d->events.count)
        qsort(d->events.items, d->events.count, sizeof(*d->events.items), by_key);
}

void cairn_descriptions_free(struct cairn_descriptions *d)
{
    free(d->events.items);
    cairn_event_maps_free(&d->maps);
    cairn_manifests_free(&d->manifests);
}

/* ---- looking up -------------------------------------------------------------------------------------------------- */

struct cairn_bytes cairn_description_of(const struct cairn_descriptions *d, const uint8_t *guid, bool class,
                                        uint16_t id, uint8_t version)
{
    const struct key wanted = key_as(guid, class, id, version);
    size_t low = 0, high = d->events.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(key_of(&d->events.items[middle]), wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == d->events.count || compare(key_of(&d->events.items[low]), wanted) != 0)
        return (struct cairn_bytes){NULL, 0};
    return (struct cairn_bytes){d->events.items[low].info, d->events.items[low].size};
}
