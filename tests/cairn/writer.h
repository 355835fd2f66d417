/* SPDX-License-Identifier: MIT */
/* Logs by hand, for the tests of the host tool: bytes as docs/reference/format.md has them, not as some encoder makes
 * them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/cairn/frame/input.h"

struct writer { /* text of a log */
    char *data;
    size_t size, room;
    uint32_t number; /* of the next frame */
    bool eight_bit;  /* 8-bit lines */
};

#define WRITER_INPUT(w)                                                                                                \
    (struct cairn_input)                                                                                               \
    {                                                                                                                  \
        .data = (w)->data, .size = (w)->size                                                                           \
    }

void writer_free(struct writer *w);
void writer_raw(struct writer *w, const void *data, size_t size);
/* A frame with the next number. */
void writer_frame(struct writer *w, char stream, const void *payload, size_t size);
void writer_text(struct writer *w, char stream, const char *text);

struct bytes { /* events of a buffer */
    uint8_t data[4096];
    uint32_t size;
};

void bytes_add(struct bytes *b, const void *data, size_t size);
void bytes_u16(struct bytes *b, uint16_t v);
void bytes_u32(struct bytes *b, uint32_t v);
void bytes_u64(struct bytes *b, uint64_t v);

/* An event around `payload`, padded; `pebs` NULL: no PebsIndex. */
void bytes_event(struct bytes *b, uint16_t hook, uint8_t version, int64_t time, const uint64_t *pebs,
                 const void *payload, size_t size);
/* A batch of `records` (bytes), with the thread IDs given (0 ends them) and base priority 8 for each. */
void bytes_batch(struct bytes *b, int64_t first, int64_t written, const uint32_t *tids, const struct bytes *records);
void bytes_full(struct bytes *b, int64_t time, uint32_t old_tid, uint32_t new_tid);

/* One frame of a buffer whose used bytes are `used`: `events`, at `offset` (0: behind the buffer header, which is
 * made). */
void writer_piece(struct writer *w, uint16_t cpu, uint32_t buffer, uint32_t offset, uint32_t used,
                  const struct bytes *events);
/* A whole buffer in one frame. */
void writer_buffer(struct writer *w, uint16_t cpu, uint32_t buffer, const struct bytes *events);
