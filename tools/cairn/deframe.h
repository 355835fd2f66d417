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

#include "tools/cairn/input.h"
#include "trace/format.h"

#define CAIRN_MAX_CPUS 64u

struct cairn_frame {
    uint32_t number, size; /* size: of the payload */
    uint32_t crc;          /* of a serial log's */
    const uint8_t *payload;
    uint64_t at;    /* offset of the mark in the log */
    uint8_t stream; /* enum cairn_stream */
};

/* Frames of one stream whose numbers follow each other, in the order of the log. Those of the trace are of one buffer
 * and session, those of the truth of one CPU, and each begins where the one before it ends: what they hold joins. */
struct cairn_chain {
    uint64_t at;            /* offset of the first one's mark; where there is an arena, of its size there */
    uint32_t number, count; /* of the first; how many */
    uint32_t bytes;         /* that they hold behind their heads */
    uint32_t crc;           /* the first one's place in cairn_frames.crcs; of no use where there is an arena */
    uint8_t stream;
    bool bad;               /* one alone whose head, of trace or truth, says what cannot be: nothing below is known */
    bool lost;              /* trace, where offset is 0: the buffer header says that events were lost in front of it */
    uint16_t cpu, session;  /* as the heads say; session: 0 where the frame is too short for one */
    uint32_t sequence, buffer, used;
    uint32_t offset;        /* trace: of the first byte in the buffer; truth: ordinal of the first record */
};

#define CAIRN_STREAMS "HMNSLTEUZ" /* their letters in the order of a dump */
#define CAIRN_STREAM_COUNT (sizeof(CAIRN_STREAMS) - 1)

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
    bool again;     /* its frame came whole behind it: while they are looked for */
    uint8_t stream; /* as read, 0: no stream's letter */
    uint8_t flaw;
};

struct cairn_run { /* consecutive frames that are missing */
    uint32_t first, last;
    uint8_t before, after; /* streams of the neighbours, 0: none */
};

struct cairn_frames {
    struct cairn_input *input;
    struct {
        struct cairn_chain *items;
        size_t count, room;
    } chains; /* by number, each frame once */
    uint64_t count; /* of frames */
    struct {
        uint32_t *items;
        size_t count, room;
    } crcs; /* of a serial log's frames, as they came: what is read again must have the same */
    struct {
        uint64_t frames, bytes, characters; /* bytes: of the payloads; characters: of the lines */
    } of[CAIRN_STREAM_COUNT];
    struct {
        struct cairn_suspect *items;
        size_t count, room;
    } suspects; /* in the order of the log; none that `again` counts */
    struct {
        struct cairn_run *items;
        size_t count, room;
    } missing;
    uint8_t *arena; /* of an ETL file: size (4 bytes) and payload of each, a chain each; NULL: they are in `input` */
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
 * with other contents, or a header after a trailer. `progress` may be NULL; it gets bytes done and bytes in all.
 * `input` must stay as long as `f`. */
void cairn_deframe(struct cairn_frames *f, struct cairn_input *input, uint32_t which,
                   void (*progress)(uint64_t done, uint64_t all));
void cairn_frames_free(struct cairn_frames *f);

/* Position of a stream's letter in CAIRN_STREAMS. */
unsigned cairn_stream_index(uint8_t stream);

/* ---- the frames of a chain, again ------------------------------------------------------------------------------- */

struct cairn_links {
    const struct cairn_frames *frames;
    struct cairn_chain left; /* what is to come */
    struct cairn_window window;
};

/* A frame as a chain of one. */
struct cairn_chain cairn_chain_of(const struct cairn_frame *frame);
/* Bytes of all payloads. */
uint64_t cairn_frames_bytes(const struct cairn_frames *f);

void cairn_links_init(struct cairn_links *links, const struct cairn_frames *frames);
/* Goes to the beginning of a chain. */
void cairn_links_begin(struct cairn_links *links, const struct cairn_chain *chain);
/* The next frame; its payload lies at `to` (room for CAIRN_FRAME_PAYLOAD_MAX) or where it always was. False: that was
 * the last one, or another is there now: the file has changed, which is noted in the input, and no frames follow. */
bool cairn_links_next(struct cairn_links *links, struct cairn_frame *frame, uint8_t *to);
/* Takes the first frame off a chain. Returns how many bytes it held behind its head, which is of `head` bytes. */
uint32_t cairn_chain_drop(const struct cairn_frames *f, struct cairn_chain *chain, uint32_t head);

/* ---- keys and lines --------------------------------------------------------------------------------------------- */

/* Value of a decimal key in a text payload, e.g. "dump.frames". False: not there or not a number. */
bool cairn_payload_number(const uint8_t *payload, size_t size, const char *key, uint64_t *value);

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

bool cairn_is_stream(char c);
const char *cairn_flaw_text(enum cairn_flaw flaw);
