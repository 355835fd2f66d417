/* SPDX-License-Identifier: MIT */
/* Frames of packed trace and truth (trace/packed/packed.h). */
#include "kernel/lib/string.h"
#include "trace/packed/pack.h"

static struct trace_pack *pack_of(const struct trace_dump *dump)
{
    return (struct trace_pack *)(void *)dump->packer; /* its first member */
}
_Static_assert(offsetof(struct trace_pack, packer) == 0, "pack_of");

/* One line of packed bytes behind room for a head, which is returned; it is then pending. */
static void *make_line(struct trace_dump *dump, enum cairn_stream stream, uint32_t head, uint32_t *complete)
{
    trace_dump_flush(dump);
    dump->stream = (uint8_t)(stream | CAIRN_PACKED);
    dump->used = head + trace_pack_line(pack_of(dump), dump->payload + head, CAIRN_FRAME_PAYLOAD_MAX - head, complete);
    return dump->payload;
}

/* Begins a unit with the bytes of a buffer from `start` on, unless the one that is being written goes on there. */
static void begin_unit(struct trace_pack *pack, const struct wmi_buffer_header *header, uint32_t start)
{
    const uint8_t *from = (const uint8_t *)header + start;
    uint32_t size = start ? 0 : (uint32_t)sizeof(*header);
    if (!trace_pack_done(pack) && pack->unit + pack->sure == from)
        return;
    while (start + size < header->offset) {
        const uint32_t more = trace_dump_event(from + size, header->offset - start - size);
        if (size + more > CAIRN_UNIT_MAX)
            break;
        size += more;
    }
    trace_pack_begin(pack, from, size, false, !start);
}

/* May complete no event; one that begins elsewhere than the last one said begins another unit. */
static uint32_t make_part(struct trace_dump *dump, const struct wmi_buffer_header *header,
                          const struct cairn_trace_frame *frame)
{
    struct cairn_packed_trace head = {.frame = *frame};
    uint32_t complete;
    begin_unit(pack_of(dump), header, frame->offset);
    head.packed = pack_of(dump)->lines << CAIRN_PACKED_LINE;
    void *to = make_line(dump, CAIRN_STREAM_TRACE, sizeof(head), &complete);
    head.packed |= complete;
    if (!frame->offset && header->buffer_flag & WMI_BUFFER_FLAG_BUFFER_LOST)
        head.packed |= CAIRN_PACKED_LOST;
    memcpy(to, &head, sizeof(head));
    return frame->offset + complete;
}

static void make_truth(struct trace_dump *dump, uint16_t cpu, uint32_t first, const void *records, uint32_t count)
{
    const uint32_t most = CAIRN_UNIT_MAX / CAIRN_TRUTH_BYTES;
    const uint8_t *from = records;
    struct trace_pack *pack = pack_of(dump);
    while (count) {
        trace_pack_begin(pack, from, (count < most ? count : most) * CAIRN_TRUTH_BYTES, true, false);
        while (!trace_pack_done(pack)) {
            struct cairn_packed_truth head = {.frame = {.cpu = cpu, .first = first}};
            uint32_t complete;
            head.packed = pack->lines << CAIRN_PACKED_LINE;
            void *to = make_line(dump, CAIRN_STREAM_TRUTH, sizeof(head), &complete);
            head.packed |= complete;
            head.frame.count = (uint16_t)(complete / CAIRN_TRUTH_BYTES);
            memcpy(to, &head, sizeof(head));
            from += complete;
            first += head.frame.count;
            count -= head.frame.count;
        }
    }
}

void trace_dump_pack(struct trace_dump *dump, struct trace_pack *pack)
{
    pack->packer = (struct trace_packer){make_part, make_truth};
    pack->unit = NULL;
    dump->packer = &pack->packer;
}
