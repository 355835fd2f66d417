/* SPDX-License-Identifier: MIT */
#include "tools/cairn/frame/unpack.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/ahead.h"
#include "tools/cairn/base/bytes.h"
#include "trace/wire/packed_model.h"

#define TIMES_MOST     256u   /* the bytes of the log: what is more no run has made, and would fill the disk */
#define WAITING_MOST   65536u /* packed bytes of an item that is not complete, at most */
#define UNPACKERS_MOST 8u
#define BLOCKS         6u /* of each */

enum what { READ, REFUSED, UNREADABLE, CHAIN_ENDS };

/* What has become of a line. */
struct unpacked {
    enum what what;
    struct cairn_chain line, chain; /* of the line; READ: of the same frame if it were not packed */
    uint32_t size;                  /* of its payload, which is kept behind it */
    uint8_t payload[CAIRN_PAYLOAD_MOST];
};

/* Unpacks every so many chains, and those that its units may go on in. */
struct unpacker {
    const struct cairn_frames *frames;
    size_t next;             /* chain */
    uint32_t own, turn, all; /* which it is; whose turn it is; of how many */
    bool open;               /* it is in the middle of a chain */
    struct cairn_links links;
    struct packed_model model;
    struct cairn_chain last; /* the line that came last, of the unit at hand; count 0: there is none */
    unsigned line;           /* which it is in its unit */
    size_t waiting;
    uint8_t in[WAITING_MOST + CAIRN_FRAME_PAYLOAD_MAX];
    uint8_t packed[CAIRN_FRAME_PAYLOAD_MAX];
    struct unpacked *made; /* by itself: what is written behind it is noticed in tests */
    struct cairn_source source;
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

static enum what unpack_line(struct unpacker *u, const struct cairn_frame *line, struct unpacked *to)
{
    const struct cairn_chain is = to->line = cairn_chain_of(line);
    const bool truth = is.stream == CAIRN_STREAM_TRUTH;
    const uint32_t packed_head = truth ? sizeof(struct cairn_packed_truth) : sizeof(struct cairn_packed_trace);
    const uint32_t head = truth ? sizeof(struct cairn_truth_frame) : sizeof(struct cairn_trace_frame);
    if (is.bad || is.bytes > CAIRN_UNIT_MAX)
        return REFUSED;
    const unsigned number = cairn_get32(line->payload + head) >> CAIRN_PACKED_LINE;
    if (number && !goes_on(u, &is, number))
        return UNREADABLE;
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
    memcpy(to->payload, line->payload, head);
    const bool good = unpack_bytes(u, to->payload + head, &is);
    u->waiting = (size_t)(u->model.in_end - u->model.in);
    if (!good || u->waiting > WAITING_MOST)
        return REFUSED;
    memmove(u->in, u->model.in, u->waiting);
    struct cairn_frame frame = *line;
    frame.packed = false;
    frame.size = to->size = head + is.bytes;
    frame.payload = to->payload;
    to->chain = cairn_chain_of(&frame);
    return READ;
}

/* Whose turn a packed chain is, of `all`: it is the next one's, unless a unit may go on from the chain before it. */
static uint32_t turn_of(const struct cairn_frames *f, size_t number, uint32_t turn, uint32_t all)
{
    const struct cairn_chain *c = &f->chains.items[number], *before = number ? c - 1 : NULL;
    if (before && before->packed && before->stream == c->stream && before->cpu == c->cpu &&
        before->session == c->session && before->buffer == c->buffer && before->number + before->count == c->number)
        return turn;
    return (turn + 1) % all;
}

/* The next chain of its own. */
static bool open_chain(struct unpacker *u)
{
    const struct cairn_frames *f = u->frames;
    for (size_t i = u->next; i < f->chains.count; i++) {
        if (!f->chains.items[i].packed)
            continue;
        u->turn = turn_of(f, i, u->turn, u->all);
        if (u->turn != u->own)
            continue;
        cairn_links_begin(&u->links, &f->chains.items[i]);
        u->next = i + 1;
        return u->open = true;
    }
    return false;
}

static bool make(void *context, void *block)
{
    struct unpacker *u = context;
    struct unpacked *made = u->made, *to = block;
    struct cairn_frame line;
    if (!u->open && !open_chain(u))
        return false;
    u->open = cairn_links_next(&u->links, &line, u->packed);
    made->what = u->open ? unpack_line(u, &line, made) : CHAIN_ENDS;
    if (made->what == REFUSED || made->what == UNREADABLE)
        u->last.count = 0;
    if (made->what != READ)
        made->size = 0;
    memcpy(to, made, offsetof(struct unpacked, payload) + made->size);
    return true;
}

/* ---- in their order ---------------------------------------------------------------------------------------------- */

static void add_chain(struct cairn_frames *f, const struct cairn_chain *chain)
{
    struct cairn_chain *last = f->chains.count ? &f->chains.items[f->chains.count - 1] : NULL;
    if (!last || !(last->at & chain->at & CAIRN_IN_STORE) || !cairn_chain_join(last, chain))
        *CAIRN_ADD(f->chains) = *chain;
}

/* The frame as it would be if it were not packed, into the store. */
static void take(struct cairn_frames *f, struct unpacked *u)
{
    struct cairn_input *to = f->store;
    if (u->what == READ && to->size / TIMES_MOST <= f->input->size) {
        u->chain.at = to->size | CAIRN_IN_STORE;
        const int e = cairn_input_add(to, &u->size, sizeof(u->size) + u->size);
        if (e)
            cairn_input_failed(f->input, e, 0);
        add_chain(f, &u->chain);
    } else if (u->what == UNREADABLE) {
        f->unreadable++;
    } else {
        u->line.bad = true;
        add_chain(f, &u->line);
    }
}

static size_t count_packed(const struct cairn_frames *f)
{
    size_t count = 0;
    for (size_t i = 0; i < f->chains.count; i++)
        count += f->chains.items[i].packed;
    return count;
}

void cairn_unpack(struct cairn_frames *f, uint32_t helpers)
{
    struct cairn_source *source[UNPACKERS_MOST];
    const size_t packed = count_packed(f);
    uint32_t all = helpers < UNPACKERS_MOST ? helpers + 1 : UNPACKERS_MOST, turn = 0;
    if (!packed)
        return;
    all = packed < all ? (uint32_t)packed : all;
    struct unpacker *u = cairn_alloc(all * sizeof(*u));
    for (uint32_t i = 0; i < all; i++) {
        u[i].frames = f;
        u[i].own = i;
        u[i].all = all;
        u[i].made = cairn_alloc(sizeof(*u[i].made));
        cairn_links_init(&u[i].links, f);
        u[i].source = (struct cairn_source){.make = make,
                                            .context = &u[i],
                                            .blocks = cairn_alloc(BLOCKS * sizeof(struct unpacked)),
                                            .bytes = sizeof(struct unpacked),
                                            .room = BLOCKS};
        source[i] = &u[i].source;
    }
    f->store = cairn_alloc(sizeof(*f->store));
    *f->store = (struct cairn_input){.name = "what was packed", .fd = -1};
    struct cairn_frames unpacked = *f;
    memset(&unpacked.chains, 0, sizeof(unpacked.chains));
    struct cairn_ahead *ahead = cairn_ahead_new(source, all, all - 1);
    for (size_t i = 0; i < f->chains.count; i++) {
        struct unpacked *line;
        if (!f->chains.items[i].packed) {
            *CAIRN_ADD(unpacked.chains) = f->chains.items[i];
            continue;
        }
        turn = turn_of(f, i, turn, all);
        while ((line = cairn_ahead_next(ahead, source[turn])) != NULL && line->what != CHAIN_ENDS)
            take(&unpacked, line);
    }
    cairn_ahead_free(ahead);
    free(f->chains.items);
    *f = unpacked;
    for (uint32_t i = 0; i < all; i++) {
        free(u[i].source.blocks);
        free(u[i].made);
    }
    free(u);
}
