/* SPDX-License-Identifier: MIT */
/*
 * Packed frames (docs/reference/format.md, section 17): how a frame of the trace or of the truth holds compressed
 * bytes. A unit is compressed by itself: bytes of one buffer, or truth records of one CPU. Its packed bytes are one
 * sequence, cut into lines. Each line says which bytes of the unit are complete with it, so that what is in front of a
 * lost line stays readable. trace/packed/packed_coder.h has the coder.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/wire/format.h"
#include "trace/wire/truth.h"

#define CAIRN_PACK_VERSION 1u     /* dump.pack */
#define CAIRN_PACKED       0x20u  /* in a stream's letter: small letters are packed */
#define CAIRN_UNIT_MAX     65536u /* bytes of a unit before packing */
#define CAIRN_ITEM_MAX     1440u  /* of one event, or of several that are stored as they are */
_Static_assert(CAIRN_ITEM_MAX == CAIRN_EVENT_MAX, "an event is one item");

/* Of `packed` in both heads. */
#define CAIRN_PACKED_BYTES 0x000FFFFFu /* bytes of the unit that this line completes */
#define CAIRN_PACKED_LOST  0x00100000u /* trace: the buffer header is among them, with WMI_BUFFER_FLAG_BUFFER_LOST */
#define CAIRN_PACKED_LINE  24          /* shift: number of the line in its unit, from 0 */

struct cairn_packed_trace {         /* the head of a line of stream 't'; packed bytes follow */
    struct cairn_trace_frame frame; /* 00: of the bytes that are complete with this line */
    uint32_t packed;                /* 14 */
};
_Static_assert(sizeof(struct cairn_packed_trace) == 24, "cairn_packed_trace");

struct cairn_packed_truth {         /* of stream 'u' */
    struct cairn_truth_frame frame; /* 00 */
    uint32_t packed;                /* 08 */
};
_Static_assert(sizeof(struct cairn_packed_truth) == 12, "cairn_packed_truth");
