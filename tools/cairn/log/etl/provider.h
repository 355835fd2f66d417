/* SPDX-License-Identifier: MIT */
/* Events of providers, not of the kernel logger: an EVENT_HEADER, followed by items that describe the event and its
 * provider; and the older headers, which name a GUID and a type. */
#pragma once

#include "tools/cairn/log/etl/values.h"
#include "tools/cairn/log/log.h"

#define CAIRN_PROVIDER_NAME 128u

struct cairn_provider {
    const uint8_t *guid;            /* 16 bytes; NULL: the header has none (INSTANCE) */
    char name[CAIRN_PROVIDER_NAME]; /* that it gave itself, "" where the event does not tell */
    const char *class_event;        /* what its class calls the event (class_events.h); NULL: nothing */
    bool described;                 /* EVENT_HEADER: `id` and `version` are the provider's; else the class's type */
    bool string;                    /* the payload is one text of 2-byte characters */
    struct cairn_bytes payload;     /* behind the items */
    struct cairn_bytes schema;      /* TraceLogging's; at NULL: not there */
    struct cairn_bytes info;        /* what the file says of such events (event_info.h); at NULL: nothing */
    struct cairn_bytes stack;       /* addresses; at NULL: not there */
    const uint8_t *activity;        /* GUIDs, NULL: none */
    const uint8_t *related;         /* activity */
    uint64_t keyword;               /* with the next of an EVENT_HEADER alone */
    uint16_t task;
    uint8_t channel, opcode;
    uint8_t level;
    uint8_t pointer, stack_pointer; /* bytes of one */
    uint8_t about;                  /* enum cairn_about */
    bool damaged;                   /* the items are not as they say: they and the payload are not read */
};

/* False: the event is none of a provider's, or a message, whose GUID is that of a file of source. */
bool cairn_provider_read(struct cairn_provider *provider, const struct cairn_log *log, const struct cairn_event *event);
/* The same without what the rest of the file says of it. */
bool cairn_provider_header(struct cairn_provider *provider, const struct cairn_event *event);
