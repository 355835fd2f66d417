/* SPDX-License-Identifier: MIT */
/* One event: where its header and its payload are, whoever wrote it and whatever file it lies in. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CAIRN_NO_HOOK UINT32_MAX
#define CAIRN_NO_TID  UINT32_MAX

struct cairn_event {
    const uint8_t *payload;
    const uint8_t *provider; /* GUID of an event without a hook ID (of a message: of its source), NULL: none told */
    uint32_t size, space;    /* of the payload; of the whole event with padding */
    uint32_t head;           /* bytes before the payload: header and items */
    int64_t time;            /* 0 where !has_time */
    uint64_t pebs_index;
    uint32_t hook;                /* or CAIRN_NO_HOOK; then `id` is what the provider calls it */
    uint32_t tid, pid;            /* of the header, or CAIRN_NO_TID */
    uint32_t piece;               /* of the CPU: where it lies (event_walk.h) */
    uint32_t sequence, component; /* of a message, where `has_...` */
    uint16_t id;
    uint8_t version;
    uint8_t header;   /* enum etl_header */
    uint8_t pointer;  /* bytes of one in the payload */
    uint8_t counters; /* of a processor, 8 bytes each, right before the payload */
    bool has_pebs_index, has_time, has_sequence, has_component;
    bool unknown_items; /* extension bits without a meaning: where the payload begins is not known */
};

/* The event at `at` of `size` bytes, whatever its header is. False: there is none (end, or no event). */
bool cairn_event_at(const uint8_t *data, uint32_t size, uint32_t at, struct cairn_event *event);

/* Whether its payload is shorter than those who decode it (cairn_event_decoded) take for granted. */
bool cairn_event_short(const struct cairn_event *event);
/* Whether it holds context switches, or something of the Debug Store's; else it is shown as one line. */
bool cairn_event_decoded(const struct cairn_event *event);

const char *cairn_header_name(uint8_t header); /* enum etl_header: "SYSTEM64" */
