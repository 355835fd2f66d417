/* SPDX-License-Identifier: MIT */
/*
 * How a file describes events of its providers. Tools that merge files add, as events of EventMetadataGuid, what TDH
 * (tdh.h) tells of an event: TRACE_EVENT_INFO, and of a map: EVENT_MAP_INFO behind the provider's GUID
 * (KernelTraceControl.h). .NET's EventSource writes its manifest, as XML in chunks, as an event of its own
 * (ManifestEnvelope in EventSource.cs). All values are little-endian, all texts UTF-16 with a 0 at the end; an offset
 * counts from the structure's beginning, and 0 is none.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* {bbccf6c1-6cd1-48c4-80ff-839482e37671}, and its events' types */
#define EVENT_METADATA_GUID                                                                                            \
    {                                                                                                                  \
        0xC1, 0xF6, 0xCC, 0xBB, 0xD1, 0x6C, 0xC4, 0x48, 0x80, 0xFF, 0x83, 0x94, 0x82, 0xE3, 0x76, 0x71                 \
    }
#define EVENT_METADATA_EVENT_INFO 0x20u
#define EVENT_METADATA_MAP_INFO   0x21u

#define EVENT_GUID_BYTES 16u

struct event_descriptor {
    uint16_t id;      /* 00 */
    uint8_t version;  /* 02 */
    uint8_t channel;  /* 03 */
    uint8_t level;    /* 04 */
    uint8_t opcode;   /* 05 */
    uint16_t task;    /* 06 */
    uint64_t keyword; /* 08 */
};
_Static_assert(sizeof(struct event_descriptor) == 0x10, "EVENT_DESCRIPTOR");

/* DECODING_SOURCE */
enum event_decoding { EVENT_DECODING_XML, EVENT_DECODING_WBEM, EVENT_DECODING_WPP, EVENT_DECODING_TLG };

struct event_info {                     /* TRACE_EVENT_INFO; its properties follow */
    uint8_t provider[EVENT_GUID_BYTES]; /* 00 */
    uint8_t event[EVENT_GUID_BYTES];    /* 10: of a class, where a class (WBEM) describes it */
    struct event_descriptor descriptor; /* 20 */
    uint32_t decoding;                  /* 30: enum event_decoding */
    uint32_t provider_name;             /* 34: offset, as all names */
    uint32_t level_name;                /* 38 */
    uint32_t channel_name;              /* 3C */
    uint32_t keyword_names;             /* 40: one behind the other, the last is empty */
    uint32_t task_name;                 /* 44 */
    uint32_t opcode_name;               /* 48 */
    uint32_t event_message;             /* 4C */
    uint32_t provider_message;          /* 50 */
    uint32_t binary_xml;                /* 54 */
    uint32_t binary_xml_bytes;          /* 58 */
    uint32_t event_name;                /* 5C; of a class: of its activity ID's field */
    uint32_t attributes;                /* 60 */
    uint32_t properties;                /* 64: so many */
    uint32_t top_level;                 /* 68: of them the first, which are no members of structures */
    uint32_t flags;                     /* 6C */
};
_Static_assert(sizeof(struct event_info) == 0x70 && offsetof(struct event_info, decoding) == 0x30 &&
                   offsetof(struct event_info, event_name) == 0x5C,
               "TRACE_EVENT_INFO");

struct event_property {   /* EVENT_PROPERTY_INFO */
    uint32_t flags;       /* 00 */
    uint32_t name;        /* 04: offset */
    uint16_t in_or_first; /* 08: enum event_in; of a structure the index of its first member */
    uint16_t out_or_many; /* 0A: enum event_out; of a structure how many members it has */
    uint32_t map_name;    /* 0C: offset */
    uint16_t count;       /* 10: of elements; or the index of the property that has it */
    uint16_t length;      /* 12: bytes, of text characters; the same */
    uint32_t tags;        /* 14 */
};
_Static_assert(sizeof(struct event_property) == 0x18, "EVENT_PROPERTY_INFO");
#define EVENT_PROPERTY_STRUCT       0x01u
#define EVENT_PROPERTY_LENGTH_INDEX 0x02u
#define EVENT_PROPERTY_COUNT_INDEX  0x04u
#define EVENT_PROPERTY_FIXED_COUNT  0x20u /* an array, also of one element */

/* TDH_INTYPE: up to 25 as TraceLogging's (enum etl_tl_in) */
enum event_in {
    EVENT_IN_COUNTED = 300, /* UTF-16 behind its bytes (a word) */
    EVENT_IN_COUNTED_ANSI,
    EVENT_IN_REVERSED_COUNTED, /* the word has its high byte first */
    EVENT_IN_REVERSED_COUNTED_ANSI,
    EVENT_IN_REST, /* UTF-16 to the end of the payload */
    EVENT_IN_REST_ANSI,
    EVENT_IN_CHARACTER,
    EVENT_IN_CHARACTER_ANSI,
    EVENT_IN_SIZE,
    EVENT_IN_HEX_DUMP, /* bytes behind their number (4 bytes) */
    EVENT_IN_TOKEN_SID /* TOKEN_USER, SID */
};

enum event_out { /* TDH_OUTTYPE, where it matters */
                 EVENT_OUT_STRING = 1,
                 EVENT_OUT_BOOLEAN = 13,
                 EVENT_OUT_HEX8 = 16,
                 EVENT_OUT_HEX64 = 19,
                 EVENT_OUT_PORT = 22,
                 EVENT_OUT_IPV4 = 23,
                 EVENT_OUT_IPV6 = 24,
                 EVENT_OUT_NTSTATUS = 31,
                 EVENT_OUT_HRESULT = 32,
                 EVENT_OUT_CODE_POINTER = 37,
};

struct event_map {    /* EVENT_MAP_INFO; its entries follow */
    uint32_t name;    /* 00: offset */
    uint32_t flag;    /* 04: MAP_FLAGS */
    uint32_t entries; /* 08 */
    uint32_t format;  /* 0C */
};
_Static_assert(sizeof(struct event_map) == 0x10, "EVENT_MAP_INFO");
#define EVENT_MAP_VALUES 0x1u /* a name for each value */
#define EVENT_MAP_BITS   0x2u /* a name for each bit */

struct event_map_entry { /* EVENT_MAP_ENTRY */
    uint32_t name;       /* 00: offset */
    uint32_t value;      /* 04 */
};
_Static_assert(sizeof(struct event_map_entry) == 8, "EVENT_MAP_ENTRY");

/* An EventSource's manifest */
#define EVENT_SOURCE_MANIFEST_ID   0xFFFEu
#define EVENT_SOURCE_MANIFEST_TASK 0xFFFEu
#define EVENT_SOURCE_MANIFEST_OP   0xFEu

struct event_source_envelope { /* ManifestEnvelope; the chunk follows */
    uint8_t format;            /* 00 */
    uint8_t version[2];        /* 01: major, minor */
    uint8_t magic;             /* 03 */
    uint16_t chunks;           /* 04 */
    uint16_t chunk;            /* 06: from 0 on */
};
_Static_assert(sizeof(struct event_source_envelope) == 8, "ManifestEnvelope");
#define EVENT_SOURCE_XML   1u
#define EVENT_SOURCE_MAGIC 0x5Bu
