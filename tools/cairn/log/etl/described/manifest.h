/* SPDX-License-Identifier: MIT */
/* One instrumentation manifest: read from XML (manifest_parse.c), and written as the descriptions that a merged file
 * would have (manifest_write.c). Of the schema only what .NET's EventSource writes is read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/cairn/event/event_info_layout.h"

struct cairn_manifest {   /* zeroed: empty */
    char *text;           /* all texts, each with its 0; as large as the XML, and no text moves */
    size_t used, room;    /* of it */
    const char *provider; /* its name */
    struct {
        struct cairn_manifest_event {
            const char *symbol, *level, *opcode, *task, *keywords, *message, *template;
            uint16_t id;
            uint8_t version;
        } * items;
        size_t count, room;
    } events;
    struct {
        struct cairn_manifest_list { /* a template's fields, a map's values */
            const char *name;
            uint32_t first, count;
            bool good; /* of a template: all its types are known; of a map: of values, not of bits */
        } * items;
        size_t count, room;
    } templates, maps;
    struct {
        struct cairn_manifest_field {
            const char *name, *map;
            uint32_t flags; /* EVENT_PROPERTY_... */
            uint16_t in, out, count, length;
        } * items;
        size_t count, room;
    } fields;
    struct {
        struct cairn_manifest_value {
            const char *message;
            uint32_t value;
        } * items;
        size_t count, room;
    } values;
    struct {
        struct cairn_manifest_string {
            const char *id, *text;
        } * items;
        size_t count, room;
    } strings;
};

/* False: it is no well-formed XML, or has a document type, which such a manifest never has and which could define
 * entities. cairn_manifest_free in any case. */
bool cairn_manifest_parse(struct cairn_manifest *manifest, const char *xml, size_t size);
void cairn_manifest_free(struct cairn_manifest *manifest);

struct cairn_manifest_parts {
    size_t most; /* bytes */
    bool full;   /* the rest would have been more */
    struct {
        uint8_t *items;
        size_t count, room;
    } bytes;
    struct {
        struct cairn_manifest_part {
            size_t at;
            uint32_t size;
            bool map;
        } * items;
        size_t count, room;
    } list;
};
/* Templates and strings are put in order for it. */
void cairn_manifest_write(struct cairn_manifest *manifest, const uint8_t *provider, struct cairn_manifest_parts *parts);
