/* SPDX-License-Identifier: MIT */
/* Writes the frames of the serial dump, as trace/wire/format.h and docs/reference/format.md define them. */
#include "trace/frames.h"

#include <stdarg.h>

#include "kernel/lib/base64.h"
#include "kernel/lib/crc32c.h"
#include "kernel/lib/string.h"
#include "trace/session.h"

void trace_dump_init(struct trace_dump *dump, const struct trace_sink *sink)
{
    memset(dump, 0, sizeof(*dump));
    dump->sink = sink;
}

static char *put_hex8(char *to, uint32_t v)
{
    for (int shift = 28; shift >= 0; shift -= 4)
        *to++ = "0123456789abcdef"[v >> shift & 15];
    return to;
}

/* First and last frame are base64 in any case: whoever reads a log that he does not know begins with them, and the
 * counting pass knows how long they are before it knows what is in them. */
static bool is_base64(const struct trace_dump *dump)
{
    return !dump->encode || dump->stream == CAIRN_STREAM_HEADER || dump->stream == CAIRN_STREAM_LAST;
}

/* Returns the size of the line. */
static size_t make_line(struct trace_dump *dump)
{
    char *at = dump->line;
    *at++ = CAIRN_FRAME_MARK;
    *at++ = (char)dump->stream;
    at = put_hex8(at, dump->frames);
    if (is_base64(dump)) {
        *at++ = CAIRN_FRAME_SEPARATOR;
        at += kbase64_encode(at, dump->payload, dump->used);
    } else {
        at += dump->encode(at, dump->payload, dump->used);
    }
    const uint32_t crc = kcrc32c(0, dump->line + 1, (size_t)(at - dump->line) - 1);
    *at++ = CAIRN_FRAME_SEPARATOR;
    at = put_hex8(at, crc);
    *at++ = '\r';
    *at++ = '\n';
    return (size_t)(at - dump->line);
}

void trace_dump_flush(struct trace_dump *dump)
{
    if (!dump->used)
        return;
    const bool counts = !dump->sink && is_base64(dump);
    const size_t size = counts ? KBASE64_SIZE(dump->used) + CAIRN_FRAME_OVERHEAD : make_line(dump);
    if (dump->sink)
        dump->sink->write(dump->sink->context, dump->line, size);
    dump->frames++;
    dump->bytes += size;
    dump->raw_bytes += dump->used;
    dump->used = 0;
}

uint8_t *trace_dump_room(struct trace_dump *dump, enum cairn_stream stream, uint32_t size)
{
    if (dump->stream != stream || dump->used + size > CAIRN_FRAME_PAYLOAD_MAX)
        trace_dump_flush(dump);
    dump->stream = (uint8_t)stream;
    uint8_t *at = dump->payload + dump->used;
    dump->used += size;
    return at;
}

void trace_dump_line(struct trace_dump *dump, enum cairn_stream stream, const char *text, size_t size)
{
    static const char cut[] = "...";
    size_t longest = CAIRN_FRAME_PAYLOAD_MAX - 1, kept = size > longest ? longest - (sizeof(cut) - 1) : size;
    size_t tail = size > longest ? sizeof(cut) - 1 : 0;
    uint8_t *at = trace_dump_room(dump, stream, (uint32_t)(kept + tail + 1));
    memcpy(at, text, kept);
    memcpy(at + kept, cut, tail);
    at[kept + tail] = '\n';
}

uint32_t trace_dump_event(const uint8_t *at, uint32_t left)
{
    const struct perfinfo_trace_header *event = (const void *)at;
    const uint32_t size = left < sizeof(*event) ? 0 : WMI_EVENT_ALIGN((uint32_t)event->size);
    if (size >= sizeof(*event) && size <= CAIRN_EVENT_MAX && size <= left)
        return size;
    return left < CAIRN_EVENT_MAX ? left : CAIRN_EVENT_MAX;
}

uint32_t trace_dump_part(struct trace_dump *dump, const struct wmi_buffer_header *header, uint32_t cpu_buffer,
                         uint16_t session_id, uint32_t start)
{
    const uint8_t *buffer = (const uint8_t *)header;
    uint32_t end = start ? start : (uint32_t)sizeof(*header);
    struct cairn_trace_frame frame = {
        .sequence = (uint32_t)header->sequence_number,
        .cpu_buffer = cpu_buffer,
        .cpu = header->processor_index,
        .session = session_id,
        .offset = start,
        .used = header->offset,
    };
    if (dump->packer)
        return dump->packer->part(dump, header, &frame);
    while (end < header->offset) { /* as many whole events as fit */
        uint32_t size = trace_dump_event(buffer + end, header->offset - end);
        if (sizeof(frame) + (end + size - start) > CAIRN_FRAME_PAYLOAD_MAX)
            break;
        end += size;
    }
    trace_dump_flush(dump);
    uint8_t *at = trace_dump_room(dump, CAIRN_STREAM_TRACE, (uint32_t)sizeof(frame) + (end - start));
    memcpy(at, &frame, sizeof(frame));
    memcpy(at + sizeof(frame), buffer + start, end - start);
    return end;
}

void trace_dump_print(struct trace_dump *dump, enum cairn_stream stream, const char *format, ...)
{
    char text[CAIRN_FRAME_PAYLOAD_MAX];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    trace_dump_line(dump, stream, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

void trace_dump_session(struct trace_dump *dump, struct trace_session *session, uint16_t session_id)
{
    trace_dump_flush(dump);
    uint32_t count = trace_session_buffers(session);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t cpu_buffer;
        const struct wmi_buffer_header *header = trace_session_buffer(session, i, &cpu_buffer);
        for (uint32_t at = trace_session_sent(session, i); at < header->offset;)
            at = trace_dump_part(dump, header, cpu_buffer, session_id, at);
        trace_dump_flush(dump);
    }
}
