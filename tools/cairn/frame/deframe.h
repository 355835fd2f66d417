/* SPDX-License-Identifier: MIT */
/*
 * Reads frames out of a serial log (trace/wire/format.h, docs/reference/format.md): finds them among everything else on
 * the line, checks number and CRC-32C, sorts them and says what is missing. It trusts only what it has checked: a frame
 * with a wrong CRC does not count as a frame, and its place is reported.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/cairn/frame/frame_chain.h"

/* Suspects that are listed: a line of noise can hold one in ten bytes, and nobody reads as many. */
#define CAIRN_SUSPECTS_MOST 16384u

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
    struct cairn_kept *kept; /* some of those that were read again (frame_chain.c); NULL: none are kept */
    struct {
        struct cairn_chain *items;
        size_t count, room;
    } chains;       /* by number, each frame once */
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
    } suspects;        /* in the order of the log, the first CAIRN_SUSPECTS_MOST; none that `again` counts */
    uint64_t unlisted; /* behind those: at most so many, frames of some may have come whole behind them */
    struct {
        struct cairn_run *items;
        size_t count, room;
    } missing;
    uint8_t *arena; /* of an ETL file: size (4 bytes) and payload of each, a chain each; NULL: they are in `input` */
    size_t arena_used;
    struct cairn_input *store; /* what was packed: size (4 bytes) and payload of each frame; NULL: nothing was */
    uint64_t unpacked;         /* bytes of trace and truth in those, without heads */
    uint64_t unreadable;       /* packed frames of no use: one in front of them, of their unit, is missing */
    uint64_t total;            /* frames there should be */
    bool total_known;          /* else the end is missing, and `total` only counts up to the last frame found */
    bool totals_differ;        /* H and Z do not agree */
    uint64_t missing_frames;
    uint32_t repeated;  /* frames that came more than once, equal */
    uint32_t misplaced; /* frames that came after one of a higher number */
    uint32_t again;     /* lines cut short whose frame came whole behind them: console text came in between */
    uint32_t dumps;     /* dumps in the log; only one of them is read */
    uint32_t dump;      /* which, from 1 */
};

/* Reads dump number `which` (from 1; 0: the last one) of the log. A new dump begins where a frame number comes again
 * with other contents, or a header after a trailer. `helpers` threads help. `progress` may be NULL; it gets bytes
 * done and bytes in all. `input` must stay as long as `f`. */
void cairn_deframe(struct cairn_frames *f, struct cairn_input *input, uint32_t which, uint32_t helpers,
                   void (*progress)(uint64_t done, uint64_t all));
void cairn_frames_free(struct cairn_frames *f);
/* Damaged lines, listed or not: exact where all are listed, else at most so many. */
uint64_t cairn_frames_damaged(const struct cairn_frames *f);
/* Bytes of all payloads. */
uint64_t cairn_frames_bytes(const struct cairn_frames *f);
