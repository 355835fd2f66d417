/* SPDX-License-Identifier: MIT */
#include "trace/packed/pack.h"

/* Bytes that a decoder has read when it has decoded all up to here. */
static uint32_t needed(const struct packed_model *m)
{
    return m->shifts + 4;
}

static uint32_t waiting(const struct trace_pack *p)
{
    return (uint32_t)(p->model.out - p->out);
}

/* Whether the model can take the event: it is one, and a batch has whole records only. */
static bool is_event(const uint8_t *at, uint32_t size)
{
    const struct perfinfo_trace_header *event = (const void *)at;
    if (size < sizeof(*event) || event->size < sizeof(*event) || WMI_EVENT_ALIGN((uint32_t)event->size) != size)
        return false;
    const uint32_t head = sizeof(*event) + (event->marker & PERFINFO_ITEM_PEBS_INDEX && size >= 24 ? 8 : 0);
    if (event->hook_id != HOOK_CONTEXTSWAP_BATCH || event->size < head + sizeof(struct ccswap_buffer))
        return true;
    return packed_is_batch(at + head, event->size - head);
}

void trace_pack_begin(struct trace_pack *p, const void *unit, uint32_t size, bool truth, bool header)
{
    struct packed_model *m = &p->model;
    packed_reset(m);
    m->out = p->out;
    p->unit = unit;
    p->size = size;
    p->truth = truth;
    p->at = p->sure = p->lines = p->packed = 0;
    p->ended = false;
    if (header) {
        packed_buffer_header(m, (uint8_t *)(uintptr_t)p->unit, false);
        p->at = sizeof(struct wmi_buffer_header);
    }
}

/* Where packing makes more of the bytes, they are stored as they are: so a unit has few bytes more than it had. */
static bool grows(const struct trace_pack *p)
{
    return p->model.shifts > p->at + 1024;
}

static void pack_item(struct trace_pack *p)
{
    struct packed_model *m = &p->model;
    uint8_t *bytes = (uint8_t *)(uintptr_t)(p->unit + p->at); /* the encoder does not write there */
    const uint32_t size = p->truth ? CAIRN_TRUTH_BYTES : trace_dump_event(bytes, p->size - p->at);
    const bool stored = grows(p) || (!p->truth && !is_event(bytes, size));
    packed_bit(m, &m->stored, stored, false);
    if (stored) {
        if (!p->truth)
            packed_plain(m, size, 11, false);
        packed_bytes(m, bytes, size, false);
    } else if (p->truth) {
        packed_truth(m, bytes, false);
    } else {
        packed_event(m, bytes, size, false);
    }
    p->at += size;
}

uint32_t trace_pack_line(struct trace_pack *p, uint8_t *to, uint32_t room, uint32_t *complete)
{
    struct packed_model *m = &p->model;
    const uint32_t before = p->sure, line_end = p->packed + room;
    for (;;) {
        if (needed(m) <= line_end)
            p->sure = p->at;
        if (waiting(p) >= room || p->at == p->size)
            break;
        pack_item(p);
        if (m->pending > TRACE_PACK_WAIT)
            p->size = p->at;
    }
    if (p->at == p->size && !p->ended) {
        for (unsigned i = 0; i < 5; i++, m->shifts++)
            packed_put(m);
        p->ended = true;
    }
    const uint32_t all = waiting(p), n = all < room ? all : room;
    memcpy(to, p->out, n);
    memmove(p->out, p->out + n, all - n);
    m->out -= n;
    p->packed += n;
    p->lines++;
    if (p->ended && n == all) {
        p->sure = p->size;
        p->unit = NULL;
    }
    *complete = p->sure - before;
    return n;
}
