/* SPDX-License-Identifier: MIT */
#include "tools/cairn/frame/frame_chain.h"

#include <errno.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/frame/deframe.h"
#include "trace/wire/activity.h"
#include "trace/wire/truth.h"

#define CHAIN_MOST  64u    /* frames: so that each is found in few steps */
#define CHAIN_BYTES 98304u /* so that counts of batches, whose records have 2 bytes or more, fit into 16 bits */
#define CHAIN_LEAST 8u     /* that is not spoiled: so that there are few chains, however frames alternate */
#define KEPT        512u   /* frames, 0.8 MB: about as far apart as walks that go side by side */

/* A frame that was read again: walks along one CPU's stream go side by side, or one behind the other. */
struct cairn_kept {
    uint64_t end;   /* offset behind it; 0: there is none */
    uint32_t place; /* in cairn_frames.crcs */
    struct cairn_frame frame;
    uint8_t payload[CAIRN_FRAME_PAYLOAD_MAX];
};

static void read_trace_head(struct cairn_chain *c, const struct cairn_frame *f)
{
    const uint32_t head = f->packed ? sizeof(struct cairn_packed_trace) : sizeof(struct cairn_trace_frame);
    const uint8_t *p = f->payload;
    c->bad = f->size < head;
    if (c->bad)
        return;
    const uint32_t packed = f->packed ? cairn_get32(p + offsetof(struct cairn_packed_trace, packed)) : 0;
    c->bytes = f->packed ? packed & CAIRN_PACKED_BYTES : f->size - head;
    c->lost = packed & CAIRN_PACKED_LOST;
    c->sequence = cairn_get32(p + offsetof(struct cairn_trace_frame, sequence));
    c->buffer = cairn_get32(p + offsetof(struct cairn_trace_frame, cpu_buffer));
    c->cpu = cairn_get16(p + offsetof(struct cairn_trace_frame, cpu));
    c->session = cairn_get16(p + offsetof(struct cairn_trace_frame, session));
    c->offset = cairn_get32(p + offsetof(struct cairn_trace_frame, offset));
    c->used = cairn_get32(p + offsetof(struct cairn_trace_frame, used));
    c->bad = c->cpu >= MAX_CPUS || c->buffer == UINT32_MAX || c->used > INT32_MAX || c->offset > c->used ||
             c->bytes > c->used - c->offset;
    const uint32_t begins = c->offset ? 0 : sizeof(struct wmi_buffer_header);
    if (c->bad || f->packed || c->bytes < begins)
        return;
    if (begins)
        c->lost = cairn_get16(p + head + offsetof(struct wmi_buffer_header, buffer_flag)) & WMI_BUFFER_FLAG_BUFFER_LOST;
    c->batches = cairn_batch_counts_of(p + head + begins, c->bytes - begins);
}

static void read_truth_head(struct cairn_chain *c, const struct cairn_frame *f)
{
    const uint32_t head = f->packed ? sizeof(struct cairn_packed_truth) : sizeof(struct cairn_truth_frame);
    c->bad = f->size < head;
    if (c->bad)
        return;
    c->bytes = f->packed ? cairn_get32(f->payload + offsetof(struct cairn_packed_truth, packed)) & CAIRN_PACKED_BYTES
                         : f->size - head;
    c->cpu = cairn_get16(f->payload);
    c->offset = cairn_get32(f->payload + offsetof(struct cairn_truth_frame, first));
    c->bad = c->cpu >= MAX_CPUS ||
             cairn_get16(f->payload + offsetof(struct cairn_truth_frame, count)) * CAIRN_TRUTH_BYTES != c->bytes;
    for (uint32_t at = head; !c->bad && !f->packed && at < f->size; at += CAIRN_TRUTH_BYTES)
        c->kinds |= UINT32_C(1) << f->payload[at] % 32;
}

struct cairn_chain cairn_chain_of(const struct cairn_frame *f)
{
    struct cairn_chain c = {
        .at = f->at, .number = f->number, .count = 1, .bytes = f->size, .stream = f->stream, .packed = f->packed};
    if (f->stream == CAIRN_STREAM_TRACE)
        read_trace_head(&c, f);
    else if (f->stream == CAIRN_STREAM_TRUTH)
        read_truth_head(&c, f);
    return c;
}

/* Only a chain that holds nothing but batches need not be read again to be counted. Whether joining would spoil that:
 * for the chain, as the frame holds something else; or for the frame, as the chain does. */
static bool spoils(const struct cairn_chain *c, const struct cairn_chain *next)
{
    return c->batches.alone != next->batches.alone && (c->batches.alone ? c->count >= CHAIN_LEAST : c->count == 1);
}

/* Whether `next`, the frame behind the chain in the log, goes on where it ends. */
static bool joins(const struct cairn_chain *c, const struct cairn_chain *next)
{
    if (c->stream != next->stream || next->number != (uint64_t)c->number + c->count || c->count >= CHAIN_MOST ||
        c->bad || next->bad || c->packed != next->packed || c->cpu != next->cpu || spoils(c, next) ||
        c->bytes + next->bytes > CHAIN_BYTES)
        return false;
    if (c->stream == CAIRN_STREAM_TRUTH)
        return (uint64_t)c->offset + c->bytes / CAIRN_TRUTH_BYTES == next->offset;
    return c->stream != CAIRN_STREAM_TRACE ||
           (c->session == next->session && c->buffer == next->buffer && c->sequence == next->sequence &&
            c->used == next->used && (!c->offset || c->offset >= sizeof(struct wmi_buffer_header)) &&
            next->offset >= sizeof(struct wmi_buffer_header) && c->offset + c->bytes == next->offset);
}

bool cairn_chain_join(struct cairn_chain *c, const struct cairn_chain *next)
{
    if (!joins(c, next))
        return false;
    c->count++;
    c->bytes += next->bytes;
    c->kinds |= next->kinds;
    c->batches.alone &= next->batches.alone;
    cairn_batch_counts_add(&c->batches, &next->batches);
    return true;
}

void cairn_links_init(struct cairn_links *l, const struct cairn_frames *frames)
{
    l->frames = frames;
    l->kept = NULL;
    l->left.count = 0;
    cairn_window_init(&l->window, frames->input);
}

void cairn_links_share(struct cairn_links *l, const struct cairn_frames *frames)
{
    cairn_links_init(l, frames);
    l->kept = frames->kept;
}

void cairn_links_keep(struct cairn_frames *frames)
{
    if (!frames->arena)
        frames->kept = cairn_alloc(KEPT * sizeof(*frames->kept));
}

void cairn_links_begin(struct cairn_links *l, const struct cairn_chain *chain)
{
    l->left = *chain;
}

static bool next_in_store(struct cairn_links *l, struct cairn_frame *frame, uint8_t *to)
{
    struct cairn_chain *left = &l->left;
    const uint64_t at = left->at & ~CAIRN_IN_STORE;
    uint32_t size;
    if (!cairn_input_read(l->frames->store, at, &size, sizeof(size)) || size > CAIRN_PAYLOAD_MOST ||
        !cairn_input_read(l->frames->store, at + sizeof(size), to, size)) {
        cairn_input_failed(l->frames->input, l->frames->store->error ? l->frames->store->error : -EIO, 0);
        left->count = 0;
        return false;
    }
    *frame = (struct cairn_frame){
        .number = left->number++, .size = size, .payload = to, .stream = left->stream, .at = left->at};
    left->at += sizeof(size) + size;
    left->crc++;
    return true;
}

bool cairn_links_next(struct cairn_links *l, struct cairn_frame *frame, uint8_t *to)
{
    struct cairn_chain *left = &l->left;
    if (cairn_input_changed(l->frames->input))
        left->count = 0; /* who goes on until none is left comes to an end */
    if (!left->count)
        return false;
    left->count--;
    if (l->frames->arena) {
        const uint8_t *p = l->frames->arena + left->at;
        *frame = (struct cairn_frame){
            .number = left->number, .size = cairn_get32(p), .payload = p + 4, .stream = left->stream};
        return true;
    }
    if (left->at & CAIRN_IN_STORE)
        return next_in_store(l, frame, to);
    struct cairn_kept *kept = l->kept ? &l->kept[left->crc % KEPT] : NULL;
    if (kept && kept->end && kept->place == left->crc) {
        *frame = kept->frame;
        frame->payload = memcpy(to, kept->payload, frame->size);
        left->at = kept->end;
        left->number++;
        left->crc++;
        return true;
    }
    size_t have;
    for (const char *p; (p = cairn_window(&l->window, left->at, CAIRN_FRAME_AHEAD, &have)), have; left->at += have) {
        const char *mark = memchr(p, CAIRN_FRAME_MARK, have);
        struct cairn_line line;
        if (!mark)
            continue;
        left->at += (uint64_t)(mark - p);
        p = cairn_window(&l->window, left->at, CAIRN_FRAME_AHEAD, &have);
        if (cairn_frame_read(&line, p, p + have, to) == 0 && line.frame.number == left->number &&
            line.frame.stream == left->stream) {
            *frame = line.frame;
            frame->at = left->at;
            left->at += (uint64_t)(line.end - p);
            left->number++;
            if (frame->crc != l->frames->crcs.items[left->crc++])
                break;
            if (kept) {
                kept->end = left->at;
                kept->place = left->crc - 1;
                kept->frame = *frame;
                memcpy(kept->payload, to, frame->size);
            }
            return true;
        }
        have = 1;
    }
    cairn_input_failed(l->frames->input, -ESTALE, left->at);
    left->count = 0;
    return false;
}

uint32_t cairn_chain_drop(const struct cairn_frames *f, struct cairn_chain *chain, uint32_t head)
{
    struct cairn_links links;
    struct cairn_frame frame;
    uint8_t payload[CAIRN_PAYLOAD_MOST];
    cairn_links_init(&links, f);
    cairn_links_begin(&links, chain);
    uint32_t bytes = cairn_links_next(&links, &frame, payload) && frame.size >= head ? frame.size - head : 0;
    *chain = links.left;
    return bytes;
}
