/* SPDX-License-Identifier: MIT */
/* Writes frames (trace/wire/format.h, "the serial dump"). A dump makes the same calls twice: first with a NULL sink,
 * which only counts frames and bytes, then with the real one. No lock, no allocation; usable in a panic. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/wire/format.h"

struct trace_session;

struct trace_sink {
    void (*write)(void *context, const char *data, size_t size);
    void *context;
};

struct trace_dump;

/* Writes trace and truth packed. */
struct trace_packer {
    /* As trace_dump_part; `frame` says where the frame begins. */
    uint32_t (*part)(struct trace_dump *dump, const struct wmi_buffer_header *header,
                     const struct cairn_trace_frame *frame);
    /* `count` truth records of `cpu`, the first of which is its `first`; no frame is pending. */
    void (*truth)(struct trace_dump *dump, uint16_t cpu, uint32_t first, const void *records, uint32_t count);
};

struct trace_dump {
    const struct trace_sink *sink; /* NULL: count only */
    struct trace_packer *packer;   /* NULL: nothing is packed */
    /* Writes bytes as characters, at most as many as base64 would. NULL: base64. */
    size_t (*encode)(char *to, const void *from, size_t size);
    uint32_t frames;    /* written so far = number of the next */
    uint64_t bytes;     /* characters so far, line ends included */
    uint64_t raw_bytes; /* payload so far */
    uint8_t stream;     /* stream of the pending frame, 0: none */
    uint32_t used;      /* bytes pending */
    uint8_t payload[CAIRN_FRAME_PAYLOAD_MAX];
    char line[CAIRN_FRAME_LINE_MAX];
};

void trace_dump_init(struct trace_dump *dump, const struct trace_sink *sink);
/* Writes one line "text\n" of a text stream. The caller has formatted the text, which contains no newline; beyond
 * CAIRN_FRAME_PAYLOAD_MAX - 1 characters it is cut and ends in "...". Lines of one stream are packed into frames. */
void trace_dump_line(struct trace_dump *dump, enum cairn_stream stream, const char *text, size_t size);
/* The same, formatted here. */
void trace_dump_print(struct trace_dump *dump, enum cairn_stream stream, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Ends the pending frame. A change of the stream does this by itself. */
void trace_dump_flush(struct trace_dump *dump);
/* Room for `size` bytes that stay together, in the pending frame or a new one. */
uint8_t *trace_dump_room(struct trace_dump *dump, enum cairn_stream stream, uint32_t size);
/* Bytes of the event at `at` with its padding, at most `left`. Where something has overwritten it (a panic may be just
 * because of that), a piece that is not too large. */
uint32_t trace_dump_event(const uint8_t *at, uint32_t left);
/* Makes one frame, which is then pending, of as many whole events of a buffer as fit, from offset `start` on (0: with
 * the buffer's header). Returns the offset where the next frame begins; header->offset: there is none. With a packer a
 * frame may complete no event: then the offset is `start`. A frame that begins elsewhere than the last one said begins
 * another unit. */
uint32_t trace_dump_part(struct trace_dump *dump, const struct wmi_buffer_header *header, uint32_t cpu_buffer,
                         uint16_t session_id, uint32_t start);
/* Writes every buffer of a session, with whole events in each frame; if part of a buffer was sent already, the rest. */
void trace_dump_session(struct trace_dump *dump, struct trace_session *session, uint16_t session_id);
