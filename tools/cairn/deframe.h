/* SPDX-License-Identifier: MIT */
/*
 * Frames out of a serial log (trace/format.h, docs/format.md): finds them between whatever else the line carried,
 * checks number and CRC-32C, puts them in order and says what is missing. Believes nothing it has not checked: a frame
 * whose CRC is wrong does not exist, and is reported where it stood.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_frame {
    uint32_t number, size; /* size: of the payload */
    uint64_t payload;      /* offset in `arena` */
    uint64_t at;           /* offset of the mark in the log */
    uint8_t stream;        /* enum cairn_stream */
};

/* Why something that began like a frame is none. */
enum cairn_flaw {
    CAIRN_FLAW_CUT,  /* it ends before its CRC does */
    CAIRN_FLAW_TEXT, /* characters that cannot be there */
    CAIRN_FLAW_CRC,
};

struct cairn_suspect { /* a line that looks like a damaged frame */
    uint64_t at, line; /* offset, and line number from 1 */
    uint32_t number;   /* as read: may itself be what is damaged */
    bool numbered;
    uint8_t stream; /* as read, 0: no stream's letter */
    uint8_t flaw;
};

struct cairn_run { /* consecutive frames that are missing */
    uint32_t first, last;
    uint8_t before, after; /* streams of the neighbours, 0: none */
};

struct cairn_frames {
    struct {
        struct cairn_frame *items;
        size_t count, room;
    } frames; /* by number, each once */
    struct {
        struct cairn_suspect *items;
        size_t count, room;
    } suspects; /* in the order of the log; none that `again` counts */
    struct {
        struct cairn_run *items;
        size_t count, room;
    } missing;
    uint8_t *arena;
    size_t arena_used;
    uint64_t total;     /* frames there should be */
    bool total_known;   /* else the end is missing, and `total` only counts up to the last frame found */
    bool totals_differ; /* H and Z do not agree */
    uint64_t missing_frames;
    uint32_t repeated;  /* frames that came more than once, equal */
    uint32_t misplaced; /* frames that came after one of a higher number */
    uint32_t again;     /* lines cut short whose frame came whole behind them: console text came in between */
    uint32_t dumps;     /* dumps in the log; only one of them is read */
    uint32_t dump;      /* which, from 1 */
};

/* Reads dump number `which` (from 1; 0: the last one) of the log. A new dump begins where a frame number comes again
 * with other contents, or a header after a trailer. `progress` may be NULL; it gets bytes done and bytes in all. */
void cairn_deframe(struct cairn_frames *f, const char *data, size_t size, uint32_t which,
                   void (*progress)(uint64_t done, uint64_t all));
void cairn_frames_free(struct cairn_frames *f);

/* Value of a decimal key in a text payload, e.g. "dump.frames". False: not there or not a number. */
bool cairn_payload_number(const uint8_t *payload, size_t size, const char *key, uint64_t *value);

struct cairn_line {           /* one frame as it is read */
    struct cairn_frame frame; /* number, size and stream; of a damaged one what could be read */
    const char *end;          /* behind a good frame */
    bool numbered;
};
/* Reads the frame at `mark` into `to` (room for CAIRN_FRAME_PAYLOAD_MAX). 0, or the flaw + 1. */
int cairn_frame_read(struct cairn_line *line, const char *mark, const char *end, uint8_t *to);
/* Whether what cairn_frame_read refused at `mark` was a frame once: by its letter and number, or because it starts a
 * line, is long and holds no blank. `data`: the first byte that may be looked at. */
bool cairn_frame_suspect(const struct cairn_line *line, const char *data, const char *mark, const char *end);

bool cairn_is_stream(char c);
const char *cairn_flaw_text(enum cairn_flaw flaw);
