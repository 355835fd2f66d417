/* SPDX-License-Identifier: MIT */
/* What a file says of its own events: gathered before anything is shown, because it is usually at the end. */
#pragma once

#include "tools/cairn/event/event.h"
#include "tools/cairn/log/etl/described/event_maps.h"
#include "tools/cairn/log/etl/described/manifests.h"

struct cairn_descriptions { /* zeroed: none */
    struct {
        struct cairn_description {
            const uint8_t *info; /* struct event_info, then its properties and texts */
            uint32_t size, order;
        } * items;
        size_t count, room;
    } events;
    struct cairn_event_maps maps;
    struct cairn_manifests manifests;
    size_t unread; /* of events or maps: they are none, of an unknown kind, or too many */
};

/* Keeps what the event says of others, which stays where it lies. */
void cairn_descriptions_note(struct cairn_descriptions *descriptions, const struct cairn_event *event);
/* To be called when all have been noted: reads the manifests. Of several descriptions of an event the first counts;
 * one of a manifest comes behind those of merged files. */
void cairn_descriptions_settle(struct cairn_descriptions *descriptions);
void cairn_descriptions_free(struct cairn_descriptions *descriptions);

/* The description (struct event_info) of a provider's event, or with `class` of a class's of that type; at NULL: the
 * file has none. */
struct cairn_bytes cairn_description_of(const struct cairn_descriptions *descriptions, const uint8_t *guid, bool class,
                                        uint16_t id, uint8_t version);
