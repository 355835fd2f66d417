/* SPDX-License-Identifier: MIT */
/* Makes a CPU's stream from the chains of trace frames: which belong to it, in which order, and what is missing in
 * between. */
#include "tools/cairn/log/stream.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

struct cairn_piece *cairn_add_piece(struct cairn_cpu *cpu)
{
    cpu->pieces = cairn_grow(cpu->pieces, cpu->piece_count, &cpu->piece_room, sizeof(*cpu->pieces));
    struct cairn_piece *p = &cpu->pieces[cpu->piece_count++];
    *p = (struct cairn_piece){.hole = CAIRN_NO_HOLE};
    return p;
}

struct cairn_chain cairn_piece_chain(const struct cairn_piece *p)
{
    return (struct cairn_chain){
        .at = p->at, .number = p->frame, .count = p->frames, .crc = p->crc, .stream = CAIRN_STREAM_TRACE};
}

bool cairn_piece_head(struct cairn_links *links, const struct cairn_piece *p, struct wmi_buffer_header *head)
{
    struct cairn_frame frame;
    uint8_t payload[CAIRN_PAYLOAD_MOST];
    const struct cairn_chain chain = cairn_piece_chain(p);
    if (p->data) {
        memcpy(head, p->data - sizeof(*head), sizeof(*head));
        return true;
    }
    cairn_links_begin(links, &chain);
    if (!cairn_links_next(links, &frame, payload) || frame.size < sizeof(struct cairn_trace_frame) + sizeof(*head))
        return false;
    memcpy(head, frame.payload + sizeof(struct cairn_trace_frame), sizeof(*head));
    return true;
}

uint32_t cairn_piece_last(const struct cairn_piece *p)
{
    return p->frames ? p->frame + (p->frames - 1) : p->frame;
}

bool cairn_chain_fits(const struct cairn_chain *c)
{
    const uint32_t header = c->offset ? 0 : sizeof(struct wmi_buffer_header);
    return !c->bad && c->bytes >= header && c->offset + header >= sizeof(struct wmi_buffer_header);
}

/* A chain of the session as a piece of its CPU. False: it is not what the trace can hold. */
static bool add_chain(struct cairn_log *log, const struct cairn_chain *c)
{
    const uint32_t header = c->offset ? 0 : sizeof(struct wmi_buffer_header);
    if (c->bad)
        return false;
    if (c->session < 1 || c->session > TRACE_MAX_SESSIONS) {
        log->other_sessions += c->count;
        return true;
    }
    if (c->session != log->number)
        return true;
    if (!cairn_chain_fits(c))
        return false;
    struct cairn_piece *p = cairn_add_piece(&log->cpu[c->cpu]);
    p->at = c->at;
    p->frame = c->number;
    p->frames = c->count;
    p->crc = c->crc;
    p->cpu = c->cpu;
    p->buffer = c->buffer;
    p->sequence = c->sequence;
    p->used = c->used;
    p->offset = c->offset + header;
    p->size = c->bytes - header;
    p->batches = c->batches;
    p->header = !c->offset;
    p->lost_before = c->lost;
    if (c->cpu >= log->cpus)
        log->cpus = c->cpu + 1u;
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct cairn_piece *x = a, *y = b;
    if (x->buffer != y->buffer)
        return x->buffer < y->buffer ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static void drop_frame(struct cairn_log *log, struct cairn_piece *p)
{
    struct cairn_chain c = cairn_piece_chain(p);
    uint32_t bytes = cairn_chain_drop(&log->frames, &c, sizeof(struct cairn_trace_frame));
    if (p->header && bytes >= sizeof(struct wmi_buffer_header))
        bytes -= (uint32_t)sizeof(struct wmi_buffer_header);
    p->at = c.at;
    p->frame = c.number;
    p->frames = c.count;
    p->crc = c.crc;
    p->offset += bytes;
    p->size -= bytes < p->size ? bytes : p->size;
    p->header = p->lost_before = p->batches.alone = false;
    log->bad_frames++;
}

static bool lies_over(const struct cairn_piece *p, const struct cairn_piece *last)
{
    return last->buffer == p->buffer &&
           (last->sequence != p->sequence || last->used != p->used || last->offset + last->size > p->offset);
}

/* Sorts the pieces of a CPU; drops frames that lie over others. */
static void place_pieces(struct cairn_log *log, struct cairn_cpu *cpu)
{
    struct cairn_piece *p = cpu->pieces;
    size_t kept = 0;
    if (cpu->piece_count)
        qsort(p, cpu->piece_count, sizeof(*p), by_place);
    for (size_t i = 0; i < cpu->piece_count; i++) {
        while (kept && p[i].frames && lies_over(&p[i], &p[kept - 1]))
            drop_frame(log, &p[i]);
        if (!p[i].frames)
            continue;
        cpu->buffers += !kept || p[i].buffer != p[kept - 1].buffer;
        p[kept++] = p[i];
    }
    cpu->piece_count = kept;
}

void cairn_pieces_place(struct cairn_log *log)
{
    for (size_t i = 0; i < log->frames.chains.count; i++) {
        const struct cairn_chain *c = &log->frames.chains.items[i];
        if (c->stream == CAIRN_STREAM_TRACE && !add_chain(log, c))
            log->bad_frames += c->count;
    }
    for (uint32_t c = 0; c < log->cpus; c++)
        place_pieces(log, &log->cpu[c]);
}

/* ---- holes ------------------------------------------------------------------------------------------------------ */

const struct cairn_run *cairn_missing_between(const struct cairn_frames *f, uint32_t after, uint32_t before)
{
    size_t low = 0, high = f->missing.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->missing.items[middle].last < after)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->missing.count && f->missing.items[low].first < before ? &f->missing.items[low] : NULL;
}

static uint32_t add_hole(struct cairn_cpu *cpu, struct cairn_hole hole)
{
    *CAIRN_ADD(cpu->holes) = hole;
    return (uint32_t)cpu->holes.count - 1;
}

/* Numbers of the frames just outside the trace stream: what is missing at its ends lies between them and it. */
static void trace_bounds(const struct cairn_frames *f, uint32_t *before, uint32_t *behind)
{
    *before = 0;
    *behind = UINT32_MAX;
    bool trace = false;
    for (size_t i = 0; i < f->chains.count; i++) {
        const struct cairn_chain *c = &f->chains.items[i];
        bool later = c->stream == CAIRN_STREAM_END || c->stream == CAIRN_STREAM_TRUTH || c->stream == CAIRN_STREAM_LAST;
        trace |= c->stream == CAIRN_STREAM_TRACE;
        if (!trace && !later) /* in a live dump some come between its frames */
            *before = c->number + (c->count - 1);
        if (later && *behind == UINT32_MAX)
            *behind = c->number;
    }
}

/* The hole between the end of `last` (NULL: the CPU's beginning) and `offset` of `buffer`, where piece `begins` lies
 * (NULL: the CPU's end); CAIRN_NO_HOLE where they join. `after`, `before`: frames between which missing ones belong to
 * it. */
static uint32_t hole_between(struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_piece *last,
                             const struct cairn_piece *begins, uint32_t buffer, uint32_t offset, uint32_t after,
                             uint32_t before)
{
    uint64_t next = last ? (uint64_t)last->buffer + 1 : 0; /* first buffer that has not begun */
    uint64_t left = last ? last->used - last->offset - last->size : 0;
    struct cairn_hole hole = {.after = after, .before = before, .buffer = last ? last->buffer : buffer};
    if (last && last->buffer == buffer && offset) {
        if (last->offset + last->size == offset)
            return CAIRN_NO_HOLE;
        hole.kind = CAIRN_HOLE_BYTES;
        hole.malformed = last->malformed;
        hole.bytes = offset - last->offset - last->size;
        return add_hole(cpu, hole);
    }
    uint64_t head = offset > sizeof(struct wmi_buffer_header) ? offset : 0; /* missing from the start of `buffer` */
    if (left == 0 && head == 0 && next == buffer && begins && begins->lost_before) {
        hole.kind = CAIRN_HOLE_LOST_HERE;
        return add_hole(cpu, hole);
    }
    if (left == 0 && head == 0 && next == buffer) {
        if (!log->session.circular || !last || (cpu->end.events_known && cpu->end.events[CAIRN_LOST] == 0))
            return CAIRN_NO_HOLE;
        hole.kind = CAIRN_HOLE_MAYBE_LOST; /* while a CPU has no buffer: between two of them */
        return add_hole(cpu, hole);
    }
    if (left == 0 && head == 0) {
        hole.buffer = (uint32_t)next;
        hole.buffers = (uint32_t)(buffer - next);
        bool missing = cairn_missing_between(&log->frames, after, before);
        hole.kind = log->session.circular && !missing ? CAIRN_HOLE_OVERWRITTEN : CAIRN_HOLE_BUFFERS;
        return add_hole(cpu, hole);
    }
    hole.kind = next == buffer || (last && last->buffer == buffer) ? CAIRN_HOLE_BYTES : CAIRN_HOLE_BUFFERS;
    hole.malformed = last && last->malformed;
    hole.bytes = left + head;
    hole.buffers = buffer > next ? (uint32_t)(buffer - next) : 0;
    if (left == 0)
        hole.buffer = (uint32_t)next;
    return add_hole(cpu, hole);
}

static void find_holes(struct cairn_log *log, struct cairn_cpu *cpu, uint32_t before, uint32_t behind)
{
    const struct cairn_piece *last = NULL;
    cpu->tail = CAIRN_NO_HOLE;
    for (size_t i = 0; i < cpu->piece_count; i++) {
        struct cairn_piece *p = &cpu->pieces[i];
        const uint32_t after = last ? cairn_piece_last(last) : before;
        p->hole = hole_between(log, cpu, last, p, p->buffer, p->offset, after, p->frame);
        last = p;
    }
    uint64_t begun = last ? (uint64_t)last->buffer + 1 : 0;
    uint32_t after = last ? cairn_piece_last(last) : before;
    if (cpu->end.buffers_known && cpu->end.buffers > begun && cpu->end.buffers <= UINT32_MAX) {
        cpu->tail = hole_between(log, cpu, last, NULL, (uint32_t)cpu->end.buffers, 0, after, behind);
    } else if (last && last->offset + last->size != last->used) {
        struct cairn_hole hole = {.kind = CAIRN_HOLE_BYTES,
                                  .malformed = last->malformed,
                                  .buffer = last->buffer,
                                  .bytes = last->used - last->offset - last->size,
                                  .after = after,
                                  .before = behind};
        cpu->tail = add_hole(cpu, hole);
    } else if (cpu->end.events_known && cpu->end.events[CAIRN_LOST] && (!log->session.circular || log->panic)) {
        /* A panic loses what a CPU was writing as it was stopped, whatever the mode. */
        struct cairn_hole hole = {.kind = log->panic || log->session.live ? CAIRN_HOLE_MAYBE_LOST : CAIRN_HOLE_LOST,
                                  .buffer = (uint32_t)begun,
                                  .after = after,
                                  .before = after};
        cpu->tail = add_hole(cpu, hole);
    }
}

void cairn_pieces_holes(struct cairn_log *log)
{
    uint32_t before, behind;
    trace_bounds(&log->frames, &before, &behind);
    for (uint32_t c = 0; c < log->cpus; c++)
        find_holes(log, &log->cpu[c], before, behind);
}
