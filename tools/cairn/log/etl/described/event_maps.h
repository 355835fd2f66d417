/* SPDX-License-Identifier: MIT */
/* EVENT_MAP_INFO: the names that a file gives to the values or bits of its providers' fields. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/cairn/log/etl/values.h"

struct cairn_event_map {
    const uint8_t *provider; /* GUID */
    const uint8_t *at;       /* struct event_map */
    uint32_t size;           /* of it */
    uint32_t first, count;   /* of its values */
    bool bits;
};

struct cairn_event_maps { /* zeroed: none */
    struct {
        struct cairn_event_map *items;
        size_t count, room;
    } maps;
    struct {
        struct cairn_event_map_value {
            uint32_t value, name; /* offset in its map */
        } * items;
        size_t count, room;
    } values; /* of each map in their order */
};

/* Keeps a map: `at` and `provider` stay. One that is not what it says has fewer entries, or none. False: it is none, of
 * a kind that is not known, or there is no room. */
bool cairn_event_maps_add(struct cairn_event_maps *maps, const uint8_t *provider, struct cairn_bytes map);
/* To be called when all are there. Of several with one name the first counts. */
void cairn_event_maps_settle(struct cairn_event_maps *maps);
void cairn_event_maps_free(struct cairn_event_maps *maps);

/* The map whose name is at `name` in a description (struct event_info); NULL: there is none. */
const struct cairn_event_map *cairn_event_map_find(const struct cairn_event_maps *maps, struct cairn_bytes info,
                                                   uint32_t name);
/* Replaces `out` by the name of the number, of `bytes` bytes. It stays where the map has no such name. */
void cairn_event_map_show(char out[CAIRN_VALUE_TEXT_MOST], const struct cairn_event_maps *maps,
                          const struct cairn_event_map *map, uint64_t number, unsigned bytes);
