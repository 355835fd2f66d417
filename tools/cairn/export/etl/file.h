/* SPDX-License-Identifier: MIT */
/*
 * Writes ETL files as Windows does: buffers of one size, each of one CPU, in the order in which they would have been
 * flushed, numbered from the header's, 0; events at multiples of 8, padding 0, the unused tail FFH. The header contains
 * the number of buffers, so they wait in a temporary file until all are written.
 */
#pragma once

#include <stdio.h>

#include "tools/cairn/event/etl_layout.h"
#include "tools/cairn/log/log.h"

struct cairn_etl_made { /* a buffer */
    uint8_t *bytes;     /* behind its header, `used` of them; NULL: they wait in the temporary file */
    uint32_t used, cpu, number;
    int64_t time; /* of its last event */
    uint16_t flag;
};

struct cairn_etl_writer { /* zeroed but for the first two */
    uint32_t buffer_bytes;
    uint64_t most; /* bytes of the whole file, at least a buffer's; what there is no room for is dropped: */
    bool over;     /* there was too much, and the file is not to be written */
    struct {
        struct cairn_etl_made *items;
        size_t count, room;
    } buffers;          /* in the order they were begun */
    FILE *waiting;      /* the temporary file */
    const char *folder; /* where that is */
    int error;          /* negative errno of that; 0: none */
    uint64_t events;
};

/* Begins a buffer of `cpu`; events go into the last one begun, and further ones as needed. */
void cairn_etl_begin(struct cairn_etl_writer *w, uint32_t cpu);
/* Whether an event of `size` bytes still fits into it. */
bool cairn_etl_fits(const struct cairn_etl_writer *w, uint32_t size);
/* A whole event of `size` bytes without padding, and its time. */
void cairn_etl_event(struct cairn_etl_writer *w, const void *event, uint32_t size, int64_t time);
/* Events by header: PERFINFO64; SYSTEM64 with the IDs of a thread. `size`: of the payload. */
#define CAIRN_ETL_PAYLOAD_MAX 3072u
void cairn_etl_perfinfo(struct cairn_etl_writer *w, uint16_t hook, uint8_t version, int64_t time, const void *payload,
                        uint32_t size);
void cairn_etl_system(struct cairn_etl_writer *w, uint16_t hook, uint8_t version, int64_t time, uint32_t tid,
                      uint32_t pid, const void *payload, uint32_t size);

/* Sorts the buffers behind the first one begun, the header's, by time; empty ones are left out. */
void cairn_etl_sort(struct cairn_etl_writer *w);
/* The bytes of a buffer, perhaps in `room`, which is for one buffer. NULL: they cannot be read again. */
const uint8_t *cairn_etl_bytes(const struct cairn_etl_writer *w, const struct cairn_etl_made *made, uint8_t *room);
/* 0 or negative errno. */
int cairn_etl_write(const struct cairn_etl_writer *w, FILE *out);
void cairn_etl_writer_free(struct cairn_etl_writer *w);
