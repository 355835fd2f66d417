/* SPDX-License-Identifier: MIT */
#include "tests/cairn/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/lib/base64.h"
#include "kernel/lib/crc32c.h"
#include "kernel/line8/line8.h"
#include "trace/wire/format.h"

void writer_free(struct writer *w)
{
    free(w->data);
    *w = (struct writer){0};
}

void writer_raw(struct writer *w, const void *data, size_t size)
{
    if (!w->data || size > w->room - w->size) {
        w->room = 2 * (w->size + size);
        w->data = realloc(w->data, w->room);
        if (!w->data)
            abort();
    }
    memcpy(w->data + w->size, data, size);
    w->size += size;
}

void writer_frame(struct writer *w, char stream, const void *payload, size_t size)
{
    char line[8192];
    int n = sprintf(line, w->eight_bit ? "~%c%08x" : "~%c%08x:", stream, w->number++);
    n += (int)(w->eight_bit ? kline8_encode : kbase64_encode)(line + n, payload, size);
    n += sprintf(line + n, ":%08x\r\n", kcrc32c(0, line + 1, (size_t)n - 1));
    writer_raw(w, line, (size_t)n);
}

void writer_text(struct writer *w, char stream, const char *text)
{
    writer_frame(w, stream, text, strlen(text));
}

void bytes_add(struct bytes *b, const void *data, size_t size)
{
    if (size > sizeof(b->data) - b->size)
        abort();
    memcpy(b->data + b->size, data, size);
    b->size += (uint32_t)size;
}

void bytes_u16(struct bytes *b, uint16_t v)
{
    bytes_add(b, &v, sizeof(v));
}

void bytes_u32(struct bytes *b, uint32_t v)
{
    bytes_add(b, &v, sizeof(v));
}

void bytes_u64(struct bytes *b, uint64_t v)
{
    bytes_add(b, &v, sizeof(v));
}

void bytes_event(struct bytes *b, uint16_t hook, uint8_t version, int64_t time, const uint64_t *pebs,
                 const void *payload, size_t size)
{
    static const uint8_t padding[8];
    bytes_u32(b, 0xC0110000u | (pebs ? 0x8000u : 0) | version);
    bytes_u16(b, (uint16_t)(16 + (pebs ? 8 : 0) + size));
    bytes_u16(b, hook);
    bytes_u64(b, (uint64_t)time);
    if (pebs)
        bytes_u64(b, *pebs);
    bytes_add(b, payload, size);
    bytes_add(b, padding, (8 - size % 8) % 8);
}

void bytes_batch(struct bytes *b, int64_t first, int64_t written, const uint32_t *tids, const struct bytes *records)
{
    struct bytes payload = {0};
    uint32_t table[16] = {0};
    uint8_t base[16] = {0};
    for (unsigned i = 0; i < 16 && tids[i]; i++) {
        table[i] = tids[i];
        base[i] = 8;
    }
    bytes_u64(&payload, (uint64_t)first);
    bytes_add(&payload, table, sizeof(table));
    bytes_add(&payload, base, sizeof(base));
    bytes_add(&payload, records->data, records->size);
    bytes_event(b, 0x525, 2, written, NULL, payload.data, payload.size);
}

void bytes_full(struct bytes *b, int64_t time, uint32_t old_tid, uint32_t new_tid)
{
    struct bytes payload = {0};
    bytes_u32(&payload, new_tid);
    bytes_u32(&payload, old_tid);
    bytes_u32(&payload, 0x00000908); /* priorities 8 and 9 */
    bytes_u32(&payload, 0x0305001D); /* WrMutex, kernel, Waiting, CPU 3 */
    bytes_u32(&payload, 7);          /* ticks waited */
    bytes_u32(&payload, 2);          /* quantum left */
    bytes_event(b, 0x524, 2, time, NULL, payload.data, payload.size);
}

void writer_piece(struct writer *w, uint16_t cpu, uint32_t buffer, uint32_t offset, uint32_t used,
                  const struct bytes *events)
{
    struct bytes payload = {0};
    bytes_u32(&payload, buffer * 64 + cpu + 1);
    bytes_u32(&payload, buffer);
    bytes_u16(&payload, cpu);
    bytes_u16(&payload, 1);
    bytes_u32(&payload, offset);
    bytes_u32(&payload, used);
    if (offset == 0) {
        struct wmi_buffer_header h = {
            .buffer_size = 8192,
            .saved_offset = used,
            .current_offset = used,
            .sequence_number = buffer * 64 + cpu + 1,
            .processor_index = cpu,
            .state = 3,
            .offset = used,
            .buffer_flag = 0x20,
        };
        bytes_add(&payload, &h, sizeof(h));
    }
    bytes_add(&payload, events->data, events->size);
    writer_frame(w, 'T', payload.data, payload.size);
}

void writer_buffer(struct writer *w, uint16_t cpu, uint32_t buffer, const struct bytes *events)
{
    writer_piece(w, cpu, buffer, 0, 0x48 + events->size, events);
}
