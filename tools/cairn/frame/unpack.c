/* SPDX-License-Identifier: MIT */
#include "tools/cairn/frame/unpack.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "trace/packed/packed_model.h"

#define TIMES_MOST   256u   /* the bytes of the log: what is more no run has made, and would fill the disk */
#define WAITING_MOST 65536u /* packed bytes of an item that is not complete, at most */

struct unpacked {
    uint32_t size;
    uint8_t payload[CAIRN_PAYLOAD_MOST];
};

struct unpacker {
    struct cairn_frames *frames;
    struct packed_model model;
    struct cairn_chain last; /* the line that came last, of the unit at hand; count 0: there is none */
    unsigned line;           /* which it is in its unit */
    size_t waiting;
    uint8_t in[WAITING_MOST + CAIRN_FRAME_PAYLOAD_MAX];
    uint8_t packed[CAIRN_FRAME_PAYLOAD_MAX];
    struct unpacked *frame; /* by itself: what is written behind it is noticed in tests */
    __typeof__(((struct cairn_frames *)0)->chains) chains;
};

/* One item into `bytes`. Returns its size, 0: it is none that fits. */
static uint32_t unpack_item(struct packed_model *m, uint8_t *bytes, uint32_t room, bool truth)
{
    uint32_t size = truth ? CAIRN_TRUTH_BYTES : 0;
    const bool stored = packed_bit(m, &m->stored, 0, true);
    if (truth && size > room)
        return 0;
    if (!stored && truth)
        packed_truth(m, bytes, true);
    else if (!stored)
        size = packed_event(m, bytes, room, true);
    else if (!truth)
        size = (uint32_t)packed_plain(m, 0, 11, true);
    if (size > room)
        return 0;
    if (stored)
        packed_bytes(m, bytes, size, true);
    return size;
}

/* The bytes that are complete with a line. False: no encoder has made this. */
static bool unpack_bytes(struct unpacker *u, uint8_t *to, const struct cairn_chain *line)
{
    struct packed_model *m = &u->model;
    uint32_t at = 0;
    for (unsigned i = 0; i < 4 && u->line == 0; i++)
        packed_get(m);
    if (u->line == 0 && line->stream == CAIRN_STREAM_TRACE && line->offset == 0) {
        at = sizeof(struct wmi_buffer_header);
        if (line->bytes < at)
            return false;
        packed_buffer_header(m, to, true);
    }
    while (at < line->bytes && !m->bad) {
        const uint32_t size = unpack_item(m, to + at, line->bytes - at, line->stream == CAIRN_STREAM_TRUTH);
        if (!size)
            return false;
        at += size;
    }
    return !m->bad;
}

static bool goes_on(const struct unpacker *u, const struct cairn_chain *next, unsigned line)
{
    const struct cairn_chain *last = &u->last;
    return last->count && line == u->line + 1 && next->number == last->number + 1 && next->stream == last->stream &&
           next->cpu == last->cpu &&
           (next->stream == CAIRN_STREAM_TRUTH
                ? next->offset == last->offset + last->bytes / CAIRN_TRUTH_BYTES
                : next->session == last->session && next->buffer == last->buffer && next->sequence == last->sequence &&
                      next->used == last->used && next->offset == last->offset + last->bytes);
}

static void add_chain(struct unpacker *u, const struct cairn_chain *chain)
{
    struct cairn_chain *last = u->chains.count ? &u->chains.items[u->chains.count - 1] : NULL;
    if (!last || !(last->at & chain->at & CAIRN_IN_STORE) || !cairn_chain_join(last, chain))
        *CAIRN_ADD(u->chains) = *chain;
}

/* The frame as it would be if it were not packed, into the store. */
static void store(struct unpacker *u, const struct cairn_frame *line, uint32_t size)
{
    struct cairn_input *to = u->frames->store;
    struct cairn_frame frame = *line;
    frame.packed = false;
    frame.size = u->frame->size = size;
    frame.payload = u->frame->payload;
    frame.at = to->size | CAIRN_IN_STORE;
    const int e = cairn_input_add(to, u->frame, sizeof(u->frame->size) + size);
    if (e)
        cairn_input_failed(u->frames->input, e, 0);
    const struct cairn_chain chain = cairn_chain_of(&frame);
    add_chain(u, &chain);
}

static void refuse(struct unpacker *u, struct cairn_chain *line)
{
    line->bad = true;
    u->last.count = 0;
    add_chain(u, line);
}

static void unpack_line(struct unpacker *u, const struct cairn_frame *line)
{
    struct cairn_chain is = cairn_chain_of(line);
    const bool truth = is.stream == CAIRN_STREAM_TRUTH;
    const uint32_t packed_head = truth ? sizeof(struct cairn_packed_truth) : sizeof(struct cairn_packed_trace);
    const uint32_t head = truth ? sizeof(struct cairn_truth_frame) : sizeof(struct cairn_trace_frame);
    if (is.bad || is.bytes > CAIRN_UNIT_MAX) {
        refuse(u, &is);
        return;
    }
    const unsigned number = cairn_get32(line->payload + head) >> CAIRN_PACKED_LINE;
    if (number && !goes_on(u, &is, number)) {
        u->last.count = 0;
        u->frames->unreadable++;
        return;
    }
    if (number == 0) {
        packed_reset(&u->model);
        u->waiting = 0;
    }
    u->line = number;
    u->last = is;
    memcpy(u->in + u->waiting, line->payload + packed_head, line->size - packed_head);
    u->waiting += line->size - packed_head;
    u->model.in = u->in;
    u->model.in_end = u->in + u->waiting;
    memcpy(u->frame->payload, line->payload, head);
    const bool good = unpack_bytes(u, u->frame->payload + head, &is);
    u->waiting = (size_t)(u->model.in_end - u->model.in);
    if (!good || u->waiting > WAITING_MOST || u->frames->store->size / TIMES_MOST > u->frames->input->size) {
        refuse(u, &is);
        return;
    }
    memmove(u->in, u->model.in, u->waiting);
    store(u, line, head + is.bytes);
    u->frames->unpacked += is.bytes;
}

static bool any_packed(const struct cairn_frames *f)
{
    for (size_t i = 0; i < f->chains.count; i++)
        if (f->chains.items[i].packed)
            return true;
    return false;
}

void cairn_unpack(struct cairn_frames *f)
{
    struct cairn_links links;
    struct cairn_frame line;
    if (!any_packed(f))
        return;
    struct unpacker *u = cairn_alloc(sizeof(*u));
    u->frames = f;
    u->frame = cairn_alloc(sizeof(*u->frame));
    f->store = cairn_alloc(sizeof(*f->store));
    *f->store = (struct cairn_input){.name = "what was packed", .fd = -1};
    cairn_links_init(&links, f);
    for (size_t i = 0; i < f->chains.count; i++) {
        if (!f->chains.items[i].packed) {
            *CAIRN_ADD(u->chains) = f->chains.items[i];
            continue;
        }
        cairn_links_begin(&links, &f->chains.items[i]);
        while (cairn_links_next(&links, &line, u->packed))
            unpack_line(u, &line);
    }
    free(f->chains.items);
    f->chains = u->chains;
    free(u->frame);
    free(u);
}
