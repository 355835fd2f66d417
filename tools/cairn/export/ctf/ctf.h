/* SPDX-License-Identifier: MIT */
/*
 * The Common Trace Format, 1.8 (diamon.org/ctf/v1.8.3): the description of the trace (TSDL, metadata.c), and one CPU's
 * stream of packets (stream.c). Everything is little-endian and aligned to bytes, so there is no padding between two
 * fields.
 */
#pragma once

#include <stddef.h>

#include "tools/cairn/export/writer.h"

#define CAIRN_CTF_MARK "/* CTF 1.8 */\n/* written by cairn export --to ctf */\n"

/* What the trace's clock says when the session begins, in ns: PEBS records may be older. The clock's offset, from the
 * epoch to its 0, lets its readers come to the time of day. */
#define CAIRN_CTF_ORIGIN  INT64_C(1000000000000000000)
#define CAIRN_CTF_LONGEST INT64_C(4000000000000000000) /* ns since then: all that readers' 64 bits have room for */

enum cairn_ctf_event {
    CAIRN_CTF_THREAD,
    CAIRN_CTF_SWITCH,
    CAIRN_CTF_SAMPLE,
    CAIRN_CTF_DRAIN,
    CAIRN_CTF_BRANCH_DRAIN,
    CAIRN_CTF_BRANCH,
    CAIRN_CTF_LOCK,
    CAIRN_CTF_EVENT,
    CAIRN_CTF_LOST,
    CAIRN_CTF_OUT_OF_ORDER, /* made by cairn_ctf_open */
};

#define CAIRN_CTF_NOT_TOLD    INT64_MIN /* of a time */
#define CAIRN_CTF_NO_NUMBER   (-1)      /* of an int64_t that is never negative where it is told */
#define CAIRN_CTF_NO_PRIORITY INT16_MIN
#define CAIRN_CTF_NO_STATE    0x100u /* of state and reason: the form does not tell */
#define CAIRN_CTF_RAW_STATE   0x101u /* state: not to be told from a reason; `reason` is the field itself */

/* Writes the metadata to o->file, behind CAIRN_CTF_MARK. */
void cairn_ctf_metadata(const struct cairn_output *o);

/* A time in ns since the session began as one of the trace's clock; 0 where that has no room for it. */
static inline uint64_t cairn_ctf_clock(int64_t ns)
{
    return ns > -CAIRN_CTF_ORIGIN && ns <= CAIRN_CTF_LONGEST ? (uint64_t)(ns + CAIRN_CTF_ORIGIN) : 0;
}

struct cairn_ctf_stream { /* zeroed but for file, cpu and begins: nothing has been written */
    FILE *file;           /* NULL: with an error */
    int error;            /* the first; negative errno. Nothing is written from then on */
    uint32_t cpu;
    uint8_t *items; /* the open packet */
    size_t count, room;
    uint64_t begins;      /* clock; 0: with its first event, as where that is older */
    uint64_t first, last; /* clock of the packet's first and the stream's last event */
    uint64_t packets, discarded;
};

/* An event begins, at `ns` since the session began; CAIRN_CTF_NOT_TOLD: a place where something is missing, which has
 * no time of its own. It takes the time of the event before it then; also where its own is earlier (a damaged log),
 * which an event out_of_order says first. */
void cairn_ctf_open(struct cairn_ctf_stream *s, enum cairn_ctf_event event, int64_t ns);
void cairn_ctf_number(struct cairn_ctf_stream *s, uint64_t value, unsigned bytes); /* 1..8 */
/* NULL or empty: "[unknown]". Bytes that are no UTF-8, and NUL, become U+FFFD. */
void cairn_ctf_text(struct cairn_ctf_stream *s, const char *text);
void cairn_ctf_slice(struct cairn_ctf_stream *s, struct cairn_slice text);
/* The event ends; so does a packet that is full. */
void cairn_ctf_close(struct cairn_ctf_stream *s);
/* Between events: so many more are missing since the packet before, which this one, that ends here, counts. */
void cairn_ctf_discarded(struct cairn_ctf_stream *s, uint64_t count);
/* Writes the last packet, which goes on until then (clock) if no event is later, and closes the file. 0 or negative
 * errno: the first error of all. */
int cairn_ctf_end(struct cairn_ctf_stream *s, uint64_t ends);
