/* SPDX-License-Identifier: MIT */
#include "trace/truth/truth_frames.h"

#include "kernel/lib/string.h"
#include "trace/frames.h"
#include "trace/wire/truth.h"

void trace_dump_truth(struct trace_dump *dump, uint16_t cpu, uint32_t first, const void *records, uint32_t count)
{
    const uint8_t *from = records;
    trace_dump_flush(dump);
    if (dump->packer) {
        dump->packer->truth(dump, cpu, first, records, count);
        return;
    }
    while (count) {
        uint32_t n = count < CAIRN_TRUTH_PER_FRAME ? count : CAIRN_TRUTH_PER_FRAME;
        struct cairn_truth_frame frame = {.cpu = cpu, .count = (uint16_t)n, .first = first};
        uint8_t *at = trace_dump_room(dump, CAIRN_STREAM_TRUTH, (uint32_t)sizeof(frame) + n * CAIRN_TRUTH_BYTES);
        memcpy(at, &frame, sizeof(frame));
        memcpy(at + sizeof(frame), from, n * CAIRN_TRUTH_BYTES);
        trace_dump_flush(dump);
        from += n * CAIRN_TRUTH_BYTES;
        first += n;
        count -= n;
    }
}
