/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/event_walk.h"

#include "tools/cairn/log/stream.h"

#define NONE 2u /* of the payloads */

void cairn_walk_init(struct cairn_walk *w, const struct cairn_log *log, uint32_t cpu)
{
    cairn_walk_begin(w, log, &log->cpu[cpu]);
}

void cairn_walk_begin(struct cairn_walk *w, const struct cairn_log *log, const struct cairn_cpu *cpu)
{
    w->log = log;
    w->cpu = cpu;
    w->next = w->size = w->at = w->left = w->which = 0;
    w->held = NONE;
    w->hole = CAIRN_NO_HOLE;
    cairn_links_share(&w->links, &log->frames);
}

/* The next frame of the piece, of which `left` bytes are events. */
static bool next_frame(struct cairn_walk *w)
{
    struct cairn_frame frame;
    uint32_t head = sizeof(struct cairn_trace_frame);
    if (w->which == w->held)
        w->which = !w->held;
    if (!w->left || !cairn_links_next(&w->links, &frame, w->payload[w->which]))
        return false;
    const struct cairn_piece *p = &w->cpu->pieces[w->next - 1];
    if (p->header && frame.number == p->frame)
        head += sizeof(struct wmi_buffer_header);
    w->data = frame.payload + head;
    w->size = frame.size > head ? frame.size - head : 0;
    w->size = w->size < w->left ? w->size : w->left;
    w->at = 0;
    w->left -= w->size;
    return true;
}

static bool next_piece(struct cairn_walk *w)
{
    const bool end = w->next >= w->cpu->piece_count;
    const struct cairn_piece *p = end ? NULL : &w->cpu->pieces[w->next];
    const uint32_t hole = end ? w->cpu->tail : p->hole;
    if (hole != CAIRN_NO_HOLE)
        w->hole = hole;
    w->at = w->size = w->left = 0;
    if (end)
        return false;
    w->next++;
    w->data = p->data;
    if (p->data) {
        w->size = p->size;
        return true;
    }
    const struct cairn_chain chain = cairn_piece_chain(p);
    w->left = p->size;
    cairn_links_begin(&w->links, &chain);
    return true;
}

void cairn_walk_changed(const struct cairn_walk *w)
{
    const bool kept = !w->cpu->pieces[w->next - 1].frames;
    cairn_input_failed(w->log->frames.input, -ESTALE, kept ? 0 : w->links.left.at);
}

/* The event behind those that have come of this frame. All that is there of it are events, as the index found it. */
static bool next_event(struct cairn_walk *w, struct cairn_event *e)
{
    if (cairn_event_at(w->data, w->size, w->at, e) && !cairn_event_short(e))
        return true;
    if (w->at < w->size)
        cairn_walk_changed(w);
    return false;
}

bool cairn_walk_next(struct cairn_walk *w, struct cairn_event *e)
{
    w->hole = CAIRN_NO_HOLE;
    while (!next_event(w, e))
        if (!next_frame(w) && !next_piece(w))
            return false;
    w->at += e->space;
    e->piece = w->next - 1;
    return true;
}

void cairn_walk_hold(struct cairn_walk *w)
{
    w->held = w->which;
}
