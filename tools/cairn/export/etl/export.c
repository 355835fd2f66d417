/* SPDX-License-Identifier: MIT */
#include "tools/cairn/export/etl/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/log/event_walk.h"
#include "trace/groups.h"

#define BUFFER_LEAST 4096u /* room for what is put beside the log's events */
#define BUFFER_USUAL 65536u
_Static_assert(CAIRN_ETL_GROWTH_FREE >= ETL_BUFFER_MAX, "one buffer has room, whatever the log says");
_Static_assert(BUFFER_LEAST >=
                   sizeof(struct wmi_buffer_header) + sizeof(struct system_trace_header) + CAIRN_ETL_PAYLOAD_MAX,
               "any event put beside the log's fits");

/* ---- what is in the log ----------------------------------------------------------------------------------------- */

/* Times of the first and last event, and which of the rundown the kernel wrote itself. */
static void survey(struct cairn_etl_export *x)
{
    const struct cairn_log *log = x->log;
    x->start = log->session.start_known ? log->session.start : INT64_MAX;
    x->stop = log->session.stop_known ? log->session.stop : INT64_MIN;
    for (uint32_t c = 0; c < log->cpus; c++) {
        struct cairn_walk walk;
        struct cairn_event e;
        for (cairn_walk_init(&walk, log, c); cairn_walk_next(&walk, &e);) {
            if (e.has_time && e.time < x->start)
                x->start = e.time;
            if (e.has_time && e.time > x->stop)
                x->stop = e.time;
            x->has_threads |= e.hook == HOOK_THREAD_DC_START;
            x->has_images |= e.hook == HOOK_IMAGE_DC_START;
            x->has_config |= e.hook == HOOK_CPU_CONFIG;
            x->has_complete |= e.hook == HOOK_RUNDOWN_COMPLETE;
            if (e.hook == HOOK_HEADER_EXTENSION && e.size >= sizeof(struct etw_header_extension) &&
                (!x->has_extension || e.time < x->extension_time)) {
                memcpy(x->extension, e.payload, sizeof(x->extension));
                x->extension_cpu = c;
                x->extension_piece = e.piece;
                x->extension_time = e.time;
                x->has_extension = true;
            }
        }
    }
    if (x->start > x->stop) /* no event, and the session stream is missing */
        x->start = x->stop = 0;
}

static uint32_t buffer_bytes(const struct cairn_log *log)
{
    uint64_t bytes = log->session.buffer_bytes ? log->session.buffer_bytes : BUFFER_USUAL;
    bytes = (bytes + 7) & ~UINT64_C(7);
    return bytes < BUFFER_LEAST ? BUFFER_LEAST : bytes > ETL_BUFFER_MAX ? ETL_BUFFER_MAX : (uint32_t)bytes;
}

/* ---- the streams beside the trace ------------------------------------------------------------------------------- */

static bool of_the_end(uint8_t stream)
{
    return stream == CAIRN_STREAM_END || stream == CAIRN_STREAM_TRUTH || stream == CAIRN_STREAM_LAST;
}

static void put_stream(struct cairn_etl_export *x, uint8_t stream, uint32_t number, const void *data, uint32_t size,
                       int64_t time)
{
    const struct etl_cairn_stream head = {.stream = stream, .number = number};
    const uint32_t room = CAIRN_ETL_PAYLOAD_MAX - sizeof(head); /* no more of it is kept */
    uint8_t payload[CAIRN_ETL_PAYLOAD_MAX];
    size = size < room ? size : room;
    memcpy(payload, &head, sizeof(head));
    memcpy(payload + sizeof(head), data, size);
    cairn_etl_perfinfo(&x->writer, HOOK_CAIRN_STREAM, HOOK_VERSION_CAIRN_STREAM, time, payload,
                       (uint32_t)sizeof(head) + size);
    x->streams++;
}

static void put_streams(struct cairn_etl_export *x, bool end)
{
    const struct cairn_frames *f = &x->log->frames;
    struct cairn_links links;
    struct cairn_frame frame;
    uint8_t payload[CAIRN_PAYLOAD_MOST];
    cairn_links_init(&links, f);
    for (size_t i = 0; i < f->chains.count && !x->strict; i++) {
        if (f->chains.items[i].stream == CAIRN_STREAM_TRACE || of_the_end(f->chains.items[i].stream) != end)
            continue;
        cairn_links_begin(&links, &f->chains.items[i]);
        while (cairn_links_next(&links, &frame, payload))
            put_stream(x, frame.stream, frame.number, frame.payload, frame.size, end ? x->stop : x->start);
    }
}

/* Of which session the streams are, before them: a file that is cut short still says so. */
static void put_number(struct cairn_etl_export *x)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "export.session=%" PRIu32 "\n", x->log->number);
    if (!x->strict)
        put_stream(x, CAIRN_STREAM_HEADER, 0, text, (uint32_t)n, x->start);
}

/* What one event of put_account holds at most: the numbers that stand alone, and a line of each of some CPUs. */
#define ACCOUNT_HEAD 224u
#define ACCOUNT_CPU  ((uint32_t)sizeof("export.cpu.255.overwritten=4294967295\n"))
#define ACCOUNT_CPUS 64u
_Static_assert(ACCOUNT_HEAD + ACCOUNT_CPUS * ACCOUNT_CPU + sizeof(struct etl_cairn_stream) <= CAIRN_ETL_PAYLOAD_MAX,
               "one event holds as many");
struct account {
    char text[CAIRN_ETL_PAYLOAD_MAX - sizeof(struct etl_cairn_stream)];
    size_t size;
};

static void add_account_cpus(const struct cairn_etl_export *x, struct account *a, uint32_t from)
{
    for (uint32_t c = from; c < x->log->cpus && c < from + ACCOUNT_CPUS; c++)
        a->size += (size_t)snprintf(a->text + a->size, sizeof(a->text) - a->size,
                                    "export.cpu.%" PRIu32 ".overwritten=%" PRIu32 "\n", c,
                                    x->log->cpu[c].piece_count ? x->log->cpu[c].pieces[0].buffer : 0);
}

static void put_account_text(struct cairn_etl_export *x, const struct account *a)
{
    if (!cairn_etl_fits(&x->writer, sizeof(a->text))) /* more than it will be */
        cairn_etl_begin(&x->writer, 0);
    put_stream(x, CAIRN_STREAM_HEADER, 0, a->text, (uint32_t)a->size, x->stop);
}

/* Buffers from `first` up to `end` that are not empty. */
static uint64_t used_buffers(const struct cairn_etl_writer *w, size_t first, size_t end)
{
    uint64_t used = 0;
    for (size_t i = first; i < end; i++)
        used += w->buffers.items[i].used != 0;
    return used;
}

/* How the file differs from the log: which of its buffers are not the kernel's, for readers that compare the kernel's
 * counts, and when its session ran, with what is there. Last: it counts itself. The kernel's buffers are those from
 * `first` up to `end`. */
static void put_account(struct cairn_etl_export *x, uint64_t kernel_events, size_t first, size_t end)
{
    struct account a;
    const struct cairn_etl_writer *w = &x->writer;
    bool made = x->threads || x->images;
    if (x->strict)
        return;
    for (uint32_t c = ACCOUNT_CPUS; c < x->log->cpus; c += ACCOUNT_CPUS) { /* what does not fit the last one */
        a.size = 0;
        add_account_cpus(x, &a, c);
        put_account_text(x, &a);
    }
    uint64_t behind = used_buffers(w, end, w->buffers.count) +
                      (!w->buffers.items[w->buffers.count - 1].used || !cairn_etl_fits(w, sizeof(a.text)));
    a.size = (size_t)snprintf(a.text, sizeof(a.text),
                              "export.rundown=%s\nexport.events=%" PRIu64 "\nexport.buffers_before=%" PRIu64
                              "\nexport.buffers_behind=%" PRIu64 "\nexport.damaged=%u\n",
                              made ? "made from names and keys" : "the kernel's own", w->events + 1 - kernel_events,
                              used_buffers(w, 0, first), behind, cairn_log_damaged(x->log));
    add_account_cpus(x, &a, 0);
    put_account_text(x, &a);
}

/* ---- the kernel's buffers --------------------------------------------------------------------------------------- */

/* Whether it is the kernel's first 0005H, which is behind the file's header. */
static bool is_extension(const struct cairn_etl_export *x, const struct cairn_event *e, uint32_t cpu)
{
    return x->has_extension && e->hook == HOOK_HEADER_EXTENSION && cpu == x->extension_cpu &&
           e->piece == x->extension_piece && e->time == x->extension_time;
}

/* An event as it is, or as Windows would have written it. */
static void put_event(struct cairn_etl_export *x, const struct cairn_event *e, uint32_t cpu, bool *begun)
{
    const uint8_t *p = e->payload - e->head;
    uint8_t plain[UINT16_MAX + 1];
    uint32_t size = e->head + e->size;
    if (x->strict) {
        p = plain;
        size = is_extension(x, e, cpu) ? 0 : cairn_etl_plain(x, e, plain);
    }
    if (!size)
        return;
    if (!*begun)
        cairn_etl_begin(&x->writer, cpu);
    *begun = true;
    cairn_etl_event(&x->writer, p, size, e->time);
}

/* What is missing at a hole: the buffer before it, if this CPU has one in the file, is flagged. */
static void note_hole(struct cairn_etl_export *x, const struct cairn_cpu *cpu, uint32_t hole,
                      struct cairn_etl_made *last)
{
    const struct cairn_hole *h = &cpu->holes.items[hole];
    if (h->kind == CAIRN_HOLE_STOPPED)
        return; /* nothing is missing */
    if (h->kind == CAIRN_HOLE_BUFFERS)
        x->buffers_lost += h->buffers;
    if (last)
        last->flag |= h->kind == CAIRN_HOLE_BUFFERS ? ETL_BUFFER_FLAG_BUFFER_LOST : WMI_BUFFER_FLAG_EVENTS_LOST;
}

/* What has come of a CPU: flags of its last buffer; NULL: it has none in the file. */
static struct cairn_etl_made *last_of(struct cairn_etl_export *x, size_t first)
{
    return x->writer.buffers.count > first ? &x->writer.buffers.items[x->writer.buffers.count - 1] : NULL;
}

/* One buffer of the kernel's is one of the file's, or more where something is missing within it. */
static void put_cpu(struct cairn_etl_export *x, uint32_t n)
{
    const struct cairn_cpu *cpu = &x->log->cpu[n];
    const size_t first = x->writer.buffers.count;
    struct cairn_walk *walk = cairn_alloc(sizeof(*walk));
    struct cairn_event e;
    bool begun = false;
    uint32_t at = 0; /* pieces that have begun */
    cairn_walk_init(walk, x->log, n);
    for (bool more = true; more;) {
        more = cairn_walk_next(walk, &e);
        for (const uint32_t to = more ? e.piece + 1 : (uint32_t)cpu->piece_count; at < to; at++) {
            const struct cairn_piece *p = &cpu->pieces[at];
            if (p->hole != CAIRN_NO_HOLE)
                note_hole(x, cpu, p->hole, last_of(x, first));
            if (p->hole != CAIRN_NO_HOLE || (at && p[-1].buffer != p->buffer))
                begun = false;
        }
        if (more)
            put_event(x, &e, n, &begun);
    }
    free(walk);
    if (cpu->tail != CAIRN_NO_HOLE)
        note_hole(x, cpu, cpu->tail, last_of(x, first));
    x->events_lost += cpu->end.events_known ? cpu->end.events[CAIRN_LOST] : 0;
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

void cairn_etl_export(struct cairn_etl_export *x, const struct cairn_log *log, bool strict)
{
    *x = (struct cairn_etl_export){.log = log, .strict = strict};
    x->writer.buffer_bytes = buffer_bytes(log);
    x->writer.most = cairn_frames_bytes(&log->frames) * CAIRN_ETL_GROWTH_MAX + CAIRN_ETL_GROWTH_FREE;
    survey(x);
    cairn_etl_begin(&x->writer, 0);
    cairn_etl_put_header(x); /* again once the file can be counted */
    cairn_etl_put_extension(x);
    cairn_etl_begin(&x->writer, 0);
    cairn_etl_put_start(x);
    put_number(x);
    put_streams(x, false);
    uint64_t events = x->writer.events;
    size_t first = x->writer.buffers.count;
    for (uint32_t n = 0; n < log->cpus; n++)
        put_cpu(x, n);
    events = x->writer.events - events;
    size_t end = x->writer.buffers.count;
    cairn_etl_begin(&x->writer, 0);
    cairn_etl_put_end(x);
    put_streams(x, true);
    put_account(x, events, first, end);
    cairn_etl_sort(&x->writer);
    cairn_etl_put_header(x);
}

void cairn_etl_export_free(struct cairn_etl_export *x)
{
    cairn_etl_writer_free(&x->writer);
}
