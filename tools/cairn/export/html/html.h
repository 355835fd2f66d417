/* SPDX-License-Identifier: MIT */
/*
 * The page that `cairn export --to html` writes: the files of page/ (page.c), and between them the contents of the log.
 * These are a stream of bytes in base64 (stream.c), cut into script elements of no language, and then one JSON object
 * (meta.c; layouts.c has its tables). page/read.js reads both.
 *
 * The stream consists of items in the order of the timeline. Numbers are LEB128 unless something else is said, *signed*
 * numbers zigzag. An item begins with a byte that says what it is. Then, except for `text` and `batch`, follow the CPU
 * and the units of the session clock since the item before (signed; 0 for a `lost`, a `missed` and a `btsdrain`). Then:
 *
 *   text     size, bytes. Texts are numbered from 1 in their order; an item that has a text contains its number; 0 is
 *            none
 *   batch    CPU, bytes of the event header, size of the event, the event itself (0525H, 0524H): the switches of this
 *            CPU that follow are in it
 *   switch   1 byte: bits 2:0 enum cairn_form, 3 the incoming thread is known, 4 state and priority are, 5 raw
 *            (model/switches.h); the outgoing thread; [3: the incoming thread;] [4: state, reason, priority, 1 byte
 *            each;] [form FULL or EVENT: timer ticks that the incoming thread had waited]
 *   record   1 byte: bit 0 timed, 1 ip is that after, 2 the thread is known; the thread, else text: why not; ip and
 *            address, 8 bytes each; text: function; text: which words, as JSON [[group, name, offset], ...]; epoch;
 *            format; size, bytes; of each word the text that says what it means
 *   drain    number, reason (enum cairn_ds_reason), text: reason; records in the log; 1 byte: they are all; text: lost;
 *            bytes of a record, 0 unknown; text: rows of the area, as JSON [[offset, words, name, by, what, counter],
 *            ...]; format; size of the DS area (format 15: of the registers in its place), bytes
 *   lock     thread; text: lock; text: function that released it; 1 byte: the next two are known; from here to when it
 *            was acquired, released (signed); text: why it is here; struct wmi_spinlock
 *   event    hook, text; bytes of the event header, size of the event, the event itself
 *   ready    thread: it can run from now on (0532H); then what an event has
 *   lost     enum cairn_hole_kind; text; 1 byte: bit 0 since, 1 until are known; these, from the beginning (signed)
 *   missed   PEBS records are missing: text; 1 byte: nothing was damaged or lost there; from and to (signed), both from
 *            the beginning; it has no time of its own
 *   btsdrain of a BTS buffer: time, from the beginning (signed); number, text: reason; thread; branches; text: lost;
 *            1 byte: an interrupt would have come before any is lost; how many of them the log has; 24 bytes of each;
 *            of each two texts, where it was and where it led. These come last, by CPU, the others' time is not theirs
 */
#pragma once

#include "tools/cairn/export/json.h"
#include "tools/cairn/export/writer.h"

#define CAIRN_HTML_FORMAT 1

#define CAIRN_HTML_ITEMS(I)                                                                                            \
    I(text) I(batch) I(switch) I(record) I(drain) I(lock) I(event) I(ready) I(lost) I(missed) I(btsdrain)
#define CAIRN_HTML_ITEM(name) CAIRN_HTML_##name,
enum cairn_html_item { CAIRN_HTML_ITEMS(CAIRN_HTML_ITEM) };
#undef CAIRN_HTML_ITEM

#define CAIRN_HTML_CHUNK (3u << 18) /* bytes of the stream in one element: a mebibyte of base64 */

struct cairn_html_stream {
    FILE *to;
    void *texts; /* tsearch()'s, of struct text */
    uint64_t bytes, texts_count;
    size_t used;
    uint8_t chunk[CAIRN_HTML_CHUNK];
};

void cairn_html_byte(struct cairn_html_stream *s, uint8_t byte);
void cairn_html_bytes(struct cairn_html_stream *s, const void *bytes, size_t size);
void cairn_html_number(struct cairn_html_stream *s, uint64_t number);
void cairn_html_signed(struct cairn_html_stream *s, int64_t number);
/* The number of the text, which it has now if it had none: call it before the item that has it begins. "": 0. */
uint64_t cairn_html_text(struct cairn_html_stream *s, const char *text);
/* What is left. */
void cairn_html_stream_end(struct cairn_html_stream *s);
void cairn_html_stream_free(struct cairn_html_stream *s);

/* Members of the meta object: how bytes divide into fields, and what numbers are called. */
void cairn_html_layouts(struct cairn_json *j);

/* The page up to the stream, and behind the meta object. */
extern const char cairn_html_begins[]; /* its first characters */
void cairn_html_head(FILE *to);
void cairn_html_tail(FILE *to);
