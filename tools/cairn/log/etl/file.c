/* SPDX-License-Identifier: MIT */
/* Reads the buffers of an ETL file, decodes compressed ones, and reads its first event. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/lz77.h"
#include "tools/cairn/log/etl/etl.h"

#define HEADER         ((uint32_t)sizeof(struct wmi_buffer_header))
#define GROWTH_MAX     64u         /* a file that decodes to more than so many times its size, */
#define GROWTH_FREE    (64u << 20) /* and this, is no trace */
#define FIELD(p, name) ((p) + offsetof(struct wmi_buffer_header, name))

void cairn_etl_flaw(struct cairn_etl *etl, uint32_t buffer, const char *format, ...)
{
    va_list args;
    struct cairn_etl_flaw *flaw = CAIRN_ADD(etl->flaws);
    flaw->buffer = buffer;
    va_start(args, format);
    vsnprintf(flaw->what, sizeof(flaw->what), format, args);
    va_end(args);
}

bool cairn_etl_is(const char *data, size_t size)
{
    const uint8_t *p = (const uint8_t *)data;
    if (size < HEADER + sizeof(struct system_trace_header))
        return false;
    uint32_t marker = cairn_get32(p + HEADER), type = marker >> ETL_MARKER_TYPE_SHIFT & 0xFF;
    return marker >> 24 == ETL_MARKER_EVENT && (type == ETL_SYSTEM32 || type == ETL_SYSTEM64) &&
           cairn_get16(p + HEADER + offsetof(struct system_trace_header, hook_id)) == ETL_HOOK_HEADER &&
           cairn_get16(FIELD(p, buffer_type)) == ETL_BUFFER_TYPE_HEADER;
}

/* ---- the first event -------------------------------------------------------------------------------------------- */

static bool read_header(struct cairn_etl *etl, const struct cairn_etl_buffer *first)
{
    struct cairn_event e;
    if (!cairn_event_at(first->events, first->size, 0, &e) || e.hook != ETL_HOOK_HEADER)
        return false;
    uint32_t times = ETL_TIMES_AT(e.pointer);
    if (e.size < times + sizeof(etl->times))
        return false;
    memcpy(&etl->header, e.payload, sizeof(etl->header));
    memcpy(&etl->zone, e.payload + ETL_ZONE_AT(e.pointer), sizeof(etl->zone));
    memcpy(&etl->times, e.payload + times, sizeof(etl->times));
    etl->start = e.time;
    etl->pointer = e.pointer;
    etl->names = e.payload + times + sizeof(etl->times);
    etl->names_bytes = e.size - times - (uint32_t)sizeof(etl->times);
    static const char logger[] = ETL_CAIRN_LOGGER;
    etl->cairn = etl->names_bytes >= 2 * sizeof(logger);
    for (size_t i = 0; i < sizeof(logger) && etl->cairn; i++)
        etl->cairn = cairn_get16(etl->names + 2 * i) == (uint8_t)logger[i];
    if (!cairn_etl_hz(etl))
        cairn_etl_flaw(etl, UINT32_MAX, "the file's header gives the clock no frequency: 10 MHz is assumed");
    return true;
}

uint64_t cairn_etl_hz(const struct cairn_etl *etl)
{
    switch (etl->times.clock_type) {
    case ETL_CLOCK_SYSTEM_TIME:
        return 10000000;
    case ETL_CLOCK_CYCLES:
        return (uint64_t)etl->header.cpu_mhz * 1000000;
    default: /* before Windows 8.1 the field is reserved, and the clock the performance counter */
        return etl->times.frequency > 0 ? (uint64_t)etl->times.frequency : 0;
    }
}

uint32_t cairn_etl_wait_reasons(uint32_t build)
{
    static const struct {
        uint32_t first, last, reasons;
    } known[] = {
        {10240, 14393, 39},
        {19041, 19045, 40},
        {22000, 22000, 42},
    };
    for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (build >= known[i].first && build <= known[i].last)
            return known[i].reasons;
    return CAIRN_WAIT_REASONS_UNKNOWN;
}

_Static_assert(ETL_PROCESSOR_MASK < CAIRN_CPUS_MOST, "there is room for whatever a buffer says");

/* ---- buffers ---------------------------------------------------------------------------------------------------- */

/* Algorithms by the names that COMPRESSION_FORMAT_* gives them. */
static const char *algorithm(uint32_t format)
{
    switch (format) {
    case ETL_LZNT1:
        return "LZNT1";
    case ETL_XPRESS_HUFFMAN:
        return "Xpress Huffman (LZ77+Huffman)";
    default:
        return "an algorithm without a name";
    }
}

/* The events of a compressed buffer of `bytes` bytes in the file. */
static void decode(struct cairn_etl *etl, struct cairn_etl_buffer *b, const uint8_t *p, uint32_t bytes, uint32_t used,
                   uint64_t *room)
{
    uint32_t wanted = used - HEADER;
    if (used > ETL_BUFFER_MAX || wanted > *room) {
        cairn_etl_flaw(etl, b->number, "would decode to %" PRIu32 " bytes and is left out", used);
        return;
    }
    b->decoded = cairn_alloc(wanted);
    b->size = (uint32_t)cairn_lz77_decode(p + HEADER, bytes - HEADER, b->decoded, wanted);
    b->events = b->decoded;
    if (b->size != wanted) {
        cairn_etl_flaw(etl, b->number, "decodes to %" PRIu32 " bytes where %" PRIu32 " are used", b->size + HEADER,
                       used);
        uint8_t *less = realloc(b->decoded, b->size ? b->size : 1);
        if (less)
            b->events = b->decoded = less;
    }
    *room -= b->size;
}

/* One buffer, of which `left` bytes are in the file. */
static void add_buffer(struct cairn_etl *etl, const uint8_t *p, uint32_t size, size_t left, uint64_t *room)
{
    struct cairn_etl_buffer b = {
        .number = (uint32_t)etl->buffers.count,
        .events = p + HEADER,
        .flag = cairn_get16(FIELD(p, buffer_flag)),
        .type = cairn_get16(FIELD(p, buffer_type)),
        .sequence = cairn_get64(FIELD(p, sequence_number)),
        .time = (int64_t)cairn_get64(FIELD(p, time_stamp)),
    };
    uint32_t there = left < size ? (uint32_t)left : size;
    uint32_t offset = cairn_get32(FIELD(p, offset)), saved = cairn_get32(FIELD(p, saved_offset));
    uint32_t used = offset ? offset : saved;
    uint16_t index = cairn_get16(FIELD(p, processor_index));
    b.cpu = b.flag & WMI_BUFFER_FLAG_PROC_INDEX ? index & ETL_PROCESSOR_MASK : index & 0xFF;
    if (there < size)
        cairn_etl_flaw(etl, b.number, "is cut short: %" PRIu32 " of %" PRIu32 " bytes are there", there, size);
    if (used < HEADER) {
        cairn_etl_flaw(etl, b.number, "uses %" PRIu32 " bytes, fewer than its header has", used);
    } else if (b.flag & ETL_BUFFER_FLAG_COMPRESSED) {
        etl->compressed = true;
        decode(etl, &b, p, there, used, room);
    } else {
        if (used > size)
            cairn_etl_flaw(etl, b.number, "uses %" PRIu32 " bytes of %" PRIu32, used, size);
        b.size = (used < there ? used : there) - HEADER;
    }
    *CAIRN_ADD(etl->buffers) = b;
}

/* Whether the buffer's header says what can be: its size, with `left` bytes from there to the end of the file. One that
 * is cut short is as long as the others, `usual`, where that is known. */
static bool is_sound(const uint8_t *p, size_t left, uint32_t usual)
{
    if (left < HEADER)
        return false;
    const uint32_t bytes = cairn_get32(FIELD(p, buffer_size));
    return bytes >= HEADER && (bytes <= left || !usual || bytes == usual);
}

/* How far the next buffer with a sound header lies behind one that has none, in a file whose buffers are `usual` bytes
 * each; also the end of the file. 0: nobody knows. */
static size_t next_sound(const uint8_t *p, size_t left, uint32_t usual)
{
    for (size_t by = usual; usual && by <= left; by += usual)
        if (by == left || (is_sound(p + by, left - by, usual) && cairn_get32(FIELD(p + by, buffer_size)) == usual))
            return by;
    return 0;
}

/* Whether this is the end of a file that was never closed: Windows may have made it longer ahead of its buffers. */
static bool is_unwritten(const struct cairn_etl *etl, const uint8_t *p, size_t left)
{
    if (!etl->buffers.count || etl->header.end_time)
        return false;
    while (left && !*p) {
        p++;
        left--;
    }
    return !left;
}

/* Whether something begins behind a buffer, or the file ends there. */
static bool leads_on(const uint8_t *p, size_t left, uint32_t usual)
{
    const uint32_t bytes = cairn_get32(FIELD(p, buffer_size));
    return bytes == usual || bytes >= left || is_sound(p + bytes, left - bytes, usual);
}

/* The buffers that lie in `bytes` bytes at `at`, where a header is damaged: they keep their places. */
static void pass_over(struct cairn_etl *etl, size_t at, size_t bytes, uint32_t usual)
{
    cairn_etl_flaw(etl, UINT32_MAX, "buffer %zu, at 0x%zx, has an impossible header; %zu bytes are not read",
                   etl->buffers.count, at, bytes);
    for (size_t by = 0; by < bytes; by += usual) {
        const struct cairn_etl_buffer b = {.number = (uint32_t)etl->buffers.count, .unread = true};
        *CAIRN_ADD(etl->buffers) = b;
    }
}

/* The file's first event, which says how large its buffers are: as large as the first, or it is not gone by. */
static bool begin_file(struct cairn_etl *etl, const uint8_t *data, uint32_t *usual)
{
    const struct cairn_etl_buffer *first = &etl->buffers.items[0];
    const uint32_t bytes = cairn_get32(FIELD(data, buffer_size));
    if (first->decoded || !read_header(etl, first))
        return false;
    *usual = etl->header.buffer_size == bytes ? bytes : 0;
    return true;
}

/* What the session wrote, less what is in the file; 0: it was not closed, so the header does not count. */
static int64_t left_out(const struct cairn_etl *etl)
{
    return etl->header.end_time ? (int64_t)etl->header.buffers_written - (int64_t)etl->buffers.count : 0;
}

uint64_t cairn_etl_missing(const struct cairn_etl *etl)
{
    const uint32_t parts = ETL_MODE_CIRCULAR | ETL_MODE_APPEND | ETL_MODE_NEW_FILE | ETL_MODE_BUFFERING;
    const int64_t count = left_out(etl);
    return count < 0 || etl->header.log_file_mode & parts ? 0 : (uint64_t)count;
}

uint64_t cairn_etl_overwritten(const struct cairn_etl *etl)
{
    const int64_t count = left_out(etl);
    return count < 0 || !(etl->header.log_file_mode & ETL_MODE_CIRCULAR) ? 0 : (uint64_t)count;
}

static void check_count(struct cairn_etl *etl)
{
    const bool more = left_out(etl) < 0 && !(etl->header.log_file_mode & (ETL_MODE_APPEND | ETL_MODE_BUFFERING));
    if (more || cairn_etl_missing(etl))
        cairn_etl_flaw(etl, UINT32_MAX, "the file's header counts %" PRIu32 " buffers, but the file has %zu",
                       etl->header.buffers_written, etl->buffers.count);
}

int cairn_etl_open(struct cairn_etl *etl, const uint8_t *data, size_t size, char refusal[CAIRN_REFUSAL])
{
    uint64_t room = (uint64_t)size * GROWTH_MAX + GROWTH_FREE;
    uint32_t format = cairn_get32(FIELD(data, state)) & 0xFFFF, usual = 0;
    for (size_t at = 0; at < size;) {
        const uint8_t *p = data + at;
        const size_t left = size - at;
        if (is_unwritten(etl, p, left))
            break;
        if (left < HEADER) {
            cairn_etl_flaw(etl, UINT32_MAX, "%zu bytes after the last buffer are too few for another", left);
            break;
        }
        const bool sound = is_sound(p, left, usual) && etl->buffers.count < UINT32_MAX - 1;
        const size_t by = sound && leads_on(p, left, usual) ? 0 : next_sound(p, left, usual);
        if (by) {
            pass_over(etl, at, by, usual);
            at += by;
            continue;
        }
        if (!sound) {
            cairn_etl_flaw(etl, UINT32_MAX, "buffer %zu, at 0x%zx, is not a buffer; nothing after it is read",
                           etl->buffers.count, at);
            break;
        }
        uint32_t bytes = cairn_get32(FIELD(p, buffer_size));
        if (etl->buffers.count && cairn_get16(FIELD(p, buffer_flag)) & ETL_BUFFER_FLAG_COMPRESSED &&
            format != ETL_XPRESS) {
            snprintf(refusal, CAIRN_REFUSAL,
                     "buffers compressed with %s (format %" PRIu32 "): only plain LZ77 (format %u) is read",
                     algorithm(format), format, ETL_XPRESS);
            return -ENOTSUP;
        }
        add_buffer(etl, p, bytes, left, &room);
        if (!at && !begin_file(etl, data, &usual))
            return -ENOENT;
        if (etl->compressed) /* they are as long as they have become */
            usual = 0;
        at += bytes < left ? bytes : left;
    }
    if (!etl->buffers.count)
        return -ENOENT;
    check_count(etl);
    return 0;
}

void cairn_etl_free(struct cairn_etl *etl)
{
    if (!etl)
        return;
    for (size_t i = 0; i < etl->buffers.count; i++)
        free(etl->buffers.items[i].decoded);
    free(etl->buffers.items);
    free(etl->flaws.items);
    cairn_lives_free(&etl->lives);
    cairn_file_names_free(&etl->files);
    cairn_descriptions_free(&etl->descriptions);
    free(etl);
}
