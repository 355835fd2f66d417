/* SPDX-License-Identifier: MIT */
/*
 * One frame in a serial log (trace/wire/format.h, docs/reference/format.md), on a line that may contain anything else.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/packed/packed.h"

#define CAIRN_STREAMS      "HMNSLTEUZ" /* their letters in the order of a dump */
#define CAIRN_STREAM_COUNT (sizeof(CAIRN_STREAMS) - 1)

#define CAIRN_FRAME_AHEAD 4096u /* bytes behind a mark: a line that may be a frame is shorter */

bool cairn_is_stream(char c); /* or a packed one's */
/* Position of a stream's letter in CAIRN_STREAMS. */
unsigned cairn_stream_index(uint8_t stream);

struct cairn_frame {
    uint32_t number, size; /* size: of the payload */
    uint32_t crc;          /* of a serial log's */
    const uint8_t *payload;
    uint64_t at;    /* offset of the mark in the log */
    uint8_t stream; /* enum cairn_stream */
    bool packed;    /* trace/packed/packed.h */
};

/* Why something that began like a frame is none. */
enum cairn_flaw {
    CAIRN_FLAW_CUT,  /* it ends before its CRC does */
    CAIRN_FLAW_TEXT, /* characters that cannot be there */
    CAIRN_FLAW_CRC,
};
const char *cairn_flaw_text(enum cairn_flaw flaw);

struct cairn_line {           /* one frame as it is read */
    struct cairn_frame frame; /* number, size and stream; of a damaged one what could be read */
    const char *end;          /* behind a good frame */
    bool numbered;
};
/* Reads the frame at `mark`, its payload into `to` (room for CAIRN_FRAME_PAYLOAD_MAX). 0, or the flaw + 1. */
int cairn_frame_read(struct cairn_line *line, const char *mark, const char *end, uint8_t *to);
/* Whether what cairn_frame_read refused at `mark` was a frame once: by its letter and number, or because it starts a
 * line, is long and holds no blank. `data`: the first byte that may be looked at. */
bool cairn_frame_suspect(const struct cairn_line *line, const char *data, const char *mark, const char *end);

/* Value of a decimal key in a text payload, e.g. "dump.frames". False: not there or not a number. */
bool cairn_payload_number(const uint8_t *payload, size_t size, const char *key, uint64_t *value);
