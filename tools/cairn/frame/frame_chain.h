/* SPDX-License-Identifier: MIT */
/* Frames whose contents join, and where they are: memory holds this instead of the contents of the log. */
#pragma once

#include "kernel/lib/limits.h"
#include "tools/cairn/event/batch_counts.h"
#include "tools/cairn/frame/frame.h"
#include "tools/cairn/frame/input.h"

#define CAIRN_IN_STORE     (UINT64_C(1) << 63)
#define CAIRN_PAYLOAD_MOST (sizeof(struct cairn_trace_frame) + CAIRN_UNIT_MAX) /* of a frame, unpacked */

struct cairn_frames;

/* Frames of one stream whose numbers follow each other, in the order of the log. Those of the trace are of one buffer
 * and session, those of the truth of one CPU, and each begins where the one before it ends: what they hold joins. */
struct cairn_chain {
    uint64_t at;            /* offset of the first one's mark; where there is an arena, of its size there; unpacked: of
                             * its size in cairn_frames.store, with CAIRN_IN_STORE */
    uint32_t number, count; /* of the first; how many */
    uint32_t bytes;         /* that they hold behind their heads */
    uint32_t kinds;         /* truth: bit CAIRN_TRUTH_..., of the records in them and perhaps others */
    uint32_t crc;           /* the first one's place in cairn_frames.crcs; of no use where there is an arena */
    uint8_t stream;
    bool packed;           /* what the frames hold is not as said here before it is unpacked (unpack.h) */
    bool bad;              /* one alone whose head, of trace or truth, says what cannot be: nothing below is known */
    bool lost;             /* trace, where offset is 0: the buffer header says that events were lost in front of it */
    uint16_t cpu, session; /* as the heads say; session: 0 where the frame is too short for one */
    uint32_t sequence, buffer, used;
    uint32_t offset;                   /* trace: of the first byte in the buffer; truth: ordinal of the first record */
    struct cairn_batch_counts batches; /* trace: in them */
};

/* A frame as a chain of one. */
struct cairn_chain cairn_chain_of(const struct cairn_frame *frame);
/* Adds `next`, the frame behind the chain in the log. False: it does not go on where the chain ends. */
bool cairn_chain_join(struct cairn_chain *chain, const struct cairn_chain *next);
/* Takes the first frame off a chain. Returns how many bytes it held behind its head, which is of `head` bytes. */
uint32_t cairn_chain_drop(const struct cairn_frames *f, struct cairn_chain *chain, uint32_t head);

/* ---- its frames, again ------------------------------------------------------------------------------------------- */

struct cairn_links {
    const struct cairn_frames *frames;
    struct cairn_kept *kept; /* frames.kept, where it may be used */
    struct cairn_chain left; /* what is to come */
    struct cairn_window window;
};

void cairn_links_init(struct cairn_links *links, const struct cairn_frames *frames);
/* The same, but frames that others have read so are not decoded again while they are kept. Only one thread may. */
void cairn_links_share(struct cairn_links *links, const struct cairn_frames *frames);
/* Makes room for them, for a log that is read once: a change of the file is not noticed in frames that are kept. Where
 * there is an arena, there is nothing to keep. */
void cairn_links_keep(struct cairn_frames *frames);
/* Goes to the beginning of a chain. */
void cairn_links_begin(struct cairn_links *links, const struct cairn_chain *chain);
/* The next frame; its payload lies at `to` (room for CAIRN_PAYLOAD_MOST) or where it always was. False: that was
 * the last one, or another is there now: the file has changed, which is noted in the input, and no frames follow. */
bool cairn_links_next(struct cairn_links *links, struct cairn_frame *frame, uint8_t *to);
