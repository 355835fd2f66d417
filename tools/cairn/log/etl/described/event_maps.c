/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/described/event_maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/event/event_info_layout.h"

#define MAPS_MOST   (1u << 18)
#define VALUES_MOST (1u << 20) /* of all maps */
#define BITS_MOST   64u        /* of a map of bits */
#define NAME_MOST   512u       /* bytes of a map's name */

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* The bytes of UTF-16 at `offset`, without its 0; at NULL: there are none, or too many. */
static struct cairn_bytes name_at(const uint8_t *at, uint32_t size, uint32_t offset)
{
    struct cairn_bytes name = {NULL, 0};
    if (!offset || offset >= size)
        return name;
    const uint32_t left = size - offset;
    for (uint32_t n = 0; left - n >= 2 && n < NAME_MOST; n += 2)
        if (!cairn_get16(at + offset + n))
            return (struct cairn_bytes){at + offset, n};
    return name;
}

static struct cairn_bytes name_of(const struct cairn_event_map *m)
{
    return name_at(m->at, m->size, cairn_get32(m->at + offsetof(struct event_map, name)));
}

static int compare(const uint8_t *provider, struct cairn_bytes name, const struct cairn_event_map *m)
{
    const struct cairn_bytes other = name_of(m);
    const int c = memcmp(provider, m->provider, EVENT_GUID_BYTES);
    if (c || name.size != other.size)
        return c ? c : name.size < other.size ? -1 : 1;
    return name.size ? memcmp(name.at, other.at, name.size) : 0;
}

static int by_name(const void *a, const void *b)
{
    const struct cairn_event_map *x = a, *y = b;
    const int c = compare(x->provider, name_of(x), y);
    return c ? c : (x->first > y->first) - (x->first < y->first); /* as they came */
}

static const struct cairn_event_map *find(const struct cairn_event_maps *maps, const uint8_t *provider,
                                          struct cairn_bytes name)
{
    size_t low = 0, high = maps->maps.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(provider, name, &maps->maps.items[middle]) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct cairn_event_map *m = &maps->maps.items[low];
    return low < maps->maps.count && compare(provider, name, m) == 0 ? m : NULL;
}

const struct cairn_event_map *cairn_event_map_find(const struct cairn_event_maps *maps, struct cairn_bytes info,
                                                   uint32_t name)
{
    const struct cairn_bytes wanted = name_at(info.at, info.size, name);
    return wanted.at ? find(maps, info.at, wanted) : NULL;
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    const struct cairn_event_map_value *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

bool cairn_event_maps_add(struct cairn_event_maps *maps, const uint8_t *provider, struct cairn_bytes map)
{
    struct event_map head;
    if (map.size < sizeof(head))
        return false;
    memcpy(&head, map.at, sizeof(head));
    const uint32_t room = (map.size - (uint32_t)sizeof(head)) / sizeof(struct event_map_entry);
    const uint32_t entries = head.entries < room ? head.entries : room;
    const size_t first = maps->values.count;
    if ((head.flag != EVENT_MAP_VALUES && head.flag != EVENT_MAP_BITS) || maps->maps.count >= MAPS_MOST ||
        entries > VALUES_MOST - first || (head.flag == EVENT_MAP_BITS && entries > BITS_MOST))
        return false;
    for (uint32_t i = 0; i < entries; i++) {
        struct event_map_entry entry;
        memcpy(&entry, map.at + sizeof(head) + i * sizeof(entry), sizeof(entry));
        *CAIRN_ADD(maps->values) = (struct cairn_event_map_value){entry.value, entry.name};
    }
    if (entries)
        qsort(maps->values.items + first, entries, sizeof(*maps->values.items), by_value);
    *CAIRN_ADD(maps->maps) =
        (struct cairn_event_map){provider, map.at, map.size, (uint32_t)first, entries, head.flag == EVENT_MAP_BITS};
    return true;
}

void cairn_event_maps_settle(struct cairn_event_maps *maps)
{
    if (maps->maps.count)
        qsort(maps->maps.items, maps->maps.count, sizeof(*maps->maps.items), by_name);
}

void cairn_event_maps_free(struct cairn_event_maps *maps)
{
    free(maps->maps.items);
    free(maps->values.items);
}

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

struct values { /* of one map */
    const struct cairn_event_map_value *items;
    uint32_t count;
};

static bool show_name(char *out, size_t room, const struct cairn_event_map *m, uint32_t offset)
{
    cairn_value_text_at(out, (uint32_t)room, (struct cairn_bytes){m->at, m->size}, offset);
    return *out;
}

static void show_value(char *out, const struct cairn_event_map *m, struct values v, uint32_t number)
{
    uint32_t low = 0, high = v.count;
    char name[CAIRN_VALUE_TEXT_MOST];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (v.items[middle].value < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < v.count && v.items[low].value == number && show_name(name, sizeof(name), m, v.items[low].name))
        memcpy(out, name, sizeof(name));
}

/* "Read|Write|0x40"; what has no name in hexadecimal. */
static void show_bits(char *out, const struct cairn_event_map *m, struct values v, uint32_t number)
{
    char all[CAIRN_VALUE_TEXT_MOST] = "", name[128];
    size_t n = 0;
    uint32_t left = number;
    for (uint32_t i = 0; i < v.count; i++) {
        const uint32_t bits = v.items[i].value;
        if (!bits || (left & bits) != bits || n + sizeof(name) + 16 > sizeof(all) ||
            !show_name(name, sizeof(name), m, v.items[i].name))
            continue;
        n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", n ? "|" : "", name);
        left &= ~bits;
    }
    if (left && n)
        snprintf(all + n, sizeof(all) - n, "|0x%" PRIx32, left);
    if (n)
        memcpy(out, all, sizeof(all));
}

void cairn_event_map_show(char out[CAIRN_VALUE_TEXT_MOST], const struct cairn_event_maps *maps,
                          const struct cairn_event_map *m, uint64_t number, unsigned bytes)
{
    if (number > UINT32_MAX)
        return;
    const struct values v = {maps->values.items + m->first, m->count};
    const uint32_t value = (uint32_t)number, sign = bytes < 4 ? 1u << (8 * bytes - 1) : 0;
    if (m->bits)
        show_bits(out, m, v, value);
    else
        show_value(out, m, v, value);
    if (sign && value & sign) /* .NET's enumerations: below 0 */
        show_value(out, m, v, value | ~(2 * sign - 1));
}
