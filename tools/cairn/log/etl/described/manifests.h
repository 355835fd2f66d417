/* SPDX-License-Identifier: MIT */
/* The manifests that .NET's EventSources write into the stream, in chunks: each thread's chunks, put together again. */
#pragma once

#include <stddef.h>

#include "tools/cairn/event/event.h"
#include "tools/cairn/log/etl/values.h"

struct cairn_manifests { /* zeroed: none */
    struct {
        struct cairn_manifest_chunk {
            const uint8_t *event;    /* its header */
            const uint8_t *envelope; /* struct event_source_envelope */
            uint32_t size, order;    /* of the chunk behind that */
        } * items;
        size_t count, room;
    } chunks;
    struct {
        uint8_t **items;
        size_t count, room;
    } blocks;            /* what the manifests come to */
    size_t bytes;        /* of these */
    size_t read, unread; /* manifests; the latter are incomplete, no XML, too large, or too many */
};

/* Keeps the event where it is a chunk of a manifest. */
void cairn_manifests_note(struct cairn_manifests *manifests, const struct cairn_event *event,
                          struct cairn_bytes payload);
/* Reads them, and hands over what each comes to, as a merged file has it: of each event a struct event_info, of each
 * map its provider's GUID and a struct event_map. The bytes stay until cairn_manifests_free. A manifest that was read
 * before, as other processes or sessions cause it, is passed over. */
void cairn_manifests_read(struct cairn_manifests *manifests, void (*event)(void *to, struct cairn_bytes info),
                          void (*map)(void *to, struct cairn_bytes map), void *to);
void cairn_manifests_free(struct cairn_manifests *manifests);
