/* SPDX-License-Identifier: MIT */
#include "tools/cairn/export/etl/file.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/frame/input.h"

#define HEADER ((uint32_t)sizeof(struct wmi_buffer_header))

static struct cairn_etl_made *last(const struct cairn_etl_writer *w)
{
    return &w->buffers.items[w->buffers.count - 1];
}

/* Moves a buffer to the temporary file. */
static void put_away(struct cairn_etl_writer *w, struct cairn_etl_made *b)
{
    const size_t size = w->buffer_bytes - HEADER;
    if (!w->waiting && !w->error) {
        const int fd = cairn_temporary(&w->folder);
        w->waiting = fd < 0 ? NULL : fdopen(fd, "w+b");
        w->error = fd < 0 ? fd : w->waiting ? 0 : -errno;
    }
    if (!w->error &&
        (fseeko(w->waiting, (off_t)b->number * (off_t)size, SEEK_SET) || fwrite(b->bytes, 1, size, w->waiting) != size))
        w->error = -errno;
    free(b->bytes);
    b->bytes = NULL;
}

void cairn_etl_begin(struct cairn_etl_writer *w, uint32_t cpu)
{
    w->over |= (w->buffers.count + 1) * (uint64_t)w->buffer_bytes > w->most;
    if (w->over)
        return;
    if (w->buffers.count > 1) /* the first one, with the header, is written again at the end */
        put_away(w, last(w));
    struct cairn_etl_made *b = CAIRN_ADD(w->buffers);
    b->cpu = cpu;
    b->number = (uint32_t)w->buffers.count - 1;
    b->bytes = cairn_alloc(w->buffer_bytes - HEADER);
}

bool cairn_etl_fits(const struct cairn_etl_writer *w, uint32_t size)
{
    return WMI_EVENT_ALIGN(size) <= w->buffer_bytes - HEADER - last(w)->used;
}

void cairn_etl_event(struct cairn_etl_writer *w, const void *event, uint32_t size, int64_t time)
{
    assert(WMI_EVENT_ALIGN(size) <= w->buffer_bytes - HEADER);
    if (!cairn_etl_fits(w, size))
        cairn_etl_begin(w, last(w)->cpu);
    if (w->over)
        return;
    struct cairn_etl_made *b = last(w);
    memcpy(b->bytes + b->used, event, size); /* the padding is 0 already */
    b->used += WMI_EVENT_ALIGN(size);
    b->time = time;
    w->events++;
}

static void put(struct cairn_etl_writer *w, const void *header, uint32_t size, int64_t time, const void *payload,
                uint32_t bytes)
{
    uint8_t event[sizeof(struct system_trace_header) + CAIRN_ETL_PAYLOAD_MAX];
    assert(bytes <= CAIRN_ETL_PAYLOAD_MAX);
    memcpy(event, header, size);
    if (bytes)
        memcpy(event + size, payload, bytes);
    cairn_etl_event(w, event, size + bytes, time);
}

void cairn_etl_perfinfo(struct cairn_etl_writer *w, uint16_t hook, uint8_t version, int64_t time, const void *payload,
                        uint32_t size)
{
    struct perfinfo_trace_header h = {
        .marker = PERFINFO_MARKER64 | version,
        .size = (uint16_t)(sizeof(h) + size),
        .hook_id = hook,
        .time_stamp = time,
    };
    put(w, &h, sizeof(h), time, payload, size);
}

void cairn_etl_system(struct cairn_etl_writer *w, uint16_t hook, uint8_t version, int64_t time, uint32_t tid,
                      uint32_t pid, const void *payload, uint32_t size)
{
    struct system_trace_header h = {
        .marker = (uint32_t)ETL_MARKER_EVENT << 24 | ETL_SYSTEM64 << ETL_MARKER_TYPE_SHIFT | version,
        .size = (uint16_t)(sizeof(h) + size),
        .hook_id = hook,
        .thread_id = tid,
        .process_id = pid,
        .time_stamp = time,
    };
    put(w, &h, sizeof(h), time, payload, size);
}

static int by_time(const void *a, const void *b)
{
    const struct cairn_etl_made *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

void cairn_etl_sort(struct cairn_etl_writer *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->buffers.count; i++) {
        if (w->buffers.items[i].used)
            w->buffers.items[kept++] = w->buffers.items[i];
        else
            free(w->buffers.items[i].bytes); /* nobody flushes an empty one */
    }
    w->buffers.count = kept;
    if (w->buffers.count > 2)
        qsort(w->buffers.items + 1, w->buffers.count - 1, sizeof(*w->buffers.items), by_time);
}

const uint8_t *cairn_etl_bytes(const struct cairn_etl_writer *w, const struct cairn_etl_made *b, uint8_t *room)
{
    const size_t size = w->buffer_bytes - HEADER;
    if (b->bytes)
        return b->bytes;
    const bool good = w->waiting && fseeko(w->waiting, (off_t)b->number * (off_t)size, SEEK_SET) == 0 &&
                      fread(room, 1, size, w->waiting) == size;
    return good ? room : NULL;
}

int cairn_etl_write(const struct cairn_etl_writer *w, FILE *out)
{
    uint8_t *tail = cairn_alloc(w->buffer_bytes), *room = cairn_alloc(w->buffer_bytes);
    memset(tail, 0xFF, w->buffer_bytes);
    int e = w->error;
    for (size_t i = 0; i < w->buffers.count && !e; i++) {
        const struct cairn_etl_made *b = &w->buffers.items[i];
        const uint8_t *bytes = cairn_etl_bytes(w, b, room);
        uint32_t used = HEADER + b->used;
        bool flushed = i == 0 || i + 1 == w->buffers.count;
        struct wmi_buffer_header h = {
            .buffer_size = w->buffer_bytes,
            .saved_offset = used,
            .current_offset = used,
            .time_stamp = i ? b->time : 0,
            .sequence_number = (int64_t)i,
            .processor_index = (uint16_t)b->cpu,
            .state = WMI_BUFFER_STATE_FLUSH,
            .offset = used,
            .buffer_flag = (uint16_t)(b->flag | WMI_BUFFER_FLAG_PROC_INDEX | (flushed ? ETL_BUFFER_FLAG_FLUSH : 0)),
            .buffer_type = i ? WMI_BUFFER_TYPE_GENERIC : ETL_BUFFER_TYPE_HEADER,
        };
        if (!bytes || fwrite(&h, sizeof(h), 1, out) != 1 || fwrite(bytes, 1, b->used, out) != b->used ||
            fwrite(tail, 1, w->buffer_bytes - used, out) != w->buffer_bytes - used)
            e = -errno;
    }
    free(tail);
    free(room);
    return e;
}

void cairn_etl_writer_free(struct cairn_etl_writer *w)
{
    for (size_t i = 0; i < w->buffers.count; i++)
        free(w->buffers.items[i].bytes);
    free(w->buffers.items);
    if (w->waiting)
        fclose(w->waiting);
    *w = (struct cairn_etl_writer){0};
}
