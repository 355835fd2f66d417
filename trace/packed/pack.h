/* SPDX-License-Identifier: MIT */
/* Packs the bytes of trace buffers and truth records (trace/packed/packed.h), line by line. No lock, no allocation;
 * usable in a panic. */
#pragma once

#include "trace/frames.h"
#include "trace/packed/packed_model.h"

/* Packed bytes of one item: it may cost more than it has, but no item of the model costs as much as this. */
#define TRACE_PACK_ITEM 32768u
/* Bytes FFH that may wait for a carry when an item is packed. It takes bytes that were chosen for it to make more than
 * a few wait. A unit ends where more do, and the next begins: so `out` has room for whatever is packed. */
#define TRACE_PACK_WAIT 1024u

struct trace_pack {
    struct trace_packer packer; /* first: a dump has this */
    struct packed_model model;
    const uint8_t *unit;    /* its bytes, NULL: there is none */
    uint32_t size, at;      /* of the unit; packed so far */
    uint32_t sure;          /* bytes of it that are complete with the lines so far */
    uint32_t lines, packed; /* lines so far, and packed bytes in them */
    bool truth, ended;      /* ended: no packed bytes are to come but those in `out` */
    uint8_t out[CAIRN_FRAME_PAYLOAD_MAX + TRACE_PACK_WAIT + TRACE_PACK_ITEM];
};

/* From now on the trace and the truth of `dump` are packed. One dump at a time uses `pack`. */
void trace_dump_pack(struct trace_dump *dump, struct trace_pack *pack);

/* Begins a unit: `size` bytes at `unit`, which stay what they are until the unit is done. Truth: whole records; else
 * `size` bytes of a buffer, whole events, with its header in front of them where `header`. At most CAIRN_UNIT_MAX. */
void trace_pack_begin(struct trace_pack *pack, const void *unit, uint32_t size, bool truth, bool header);
/* Writes the next line's packed bytes to `to`, which has `room` for them. Returns how many, and in *complete how many
 * bytes of the unit are complete with them, behind those of the lines before. The unit may end before its bytes do
 * (TRACE_PACK_WAIT); another is to begin there. */
uint32_t trace_pack_line(struct trace_pack *pack, uint8_t *to, uint32_t room, uint32_t *complete);
/* Whether all lines of the unit are written. */
static inline bool trace_pack_done(const struct trace_pack *pack)
{
    return !pack->unit;
}
