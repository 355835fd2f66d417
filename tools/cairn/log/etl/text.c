/* SPDX-License-Identifier: MIT */
/* What an ETL file says besides its events, as the text that a serial log has: keys from the file's first event, names
 * and symbols from the rundown. A file that Cairn wrote has that text, and the truth, as events of its own. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/number_map.h"
#include "tools/cairn/base/printable.h"
#include "tools/cairn/log/date.h"
#include "tools/cairn/log/etl/etl.h"
#include "tools/cairn/log/rundown.h"

#define TEXT 1024u /* of the names of the session and of its file; Windows allows as many characters */

struct named { /* a process or a thread */
    uint32_t id, pid;
    int32_t base;
    char name[CAIRN_NAME_SHOWN];
};

struct table {
    struct {
        struct named *items;
        size_t count, room;
    } list;
    struct cairn_map by_id;
};

struct facts { /* gathered in one walk through the file */
    struct cairn_log *log;
    struct cairn_etl *etl;
    struct table processes, threads;
    size_t arena_room;
    struct cairn_frame frame; /* being written */
    bool names, symbols;      /* streams of the file's own */
    bool has_extension;
    struct etw_header_extension extension; /* the groups of all; version of the first */
};

/* ---- text ------------------------------------------------------------------------------------------------------- */

static void append(struct facts *f, const void *data, size_t size)
{
    struct cairn_frames *frames = &f->log->frames;
    while (f->arena_room - frames->arena_used < size)
        frames->arena = cairn_grow(frames->arena, f->arena_room, &f->arena_room, 1);
    memcpy(frames->arena + frames->arena_used, data, size);
    frames->arena_used += size;
}

/* Begins a frame of `stream`; what is appended until the next is in it. */
static void begin(struct facts *f, uint8_t stream)
{
    const uint32_t size = 0; /* not known yet */
    f->frame = (struct cairn_frame){
        .number = (uint32_t)f->log->frames.count++, .at = f->log->frames.arena_used, .stream = stream};
    append(f, &size, sizeof(size));
}

static void end(struct facts *f)
{
    struct cairn_frames *frames = &f->log->frames;
    uint8_t *at = frames->arena + f->frame.at;
    f->frame.payload = at + sizeof(f->frame.size);
    f->frame.size = (uint32_t)(frames->arena_used - f->frame.at - sizeof(f->frame.size));
    memcpy(at, &f->frame.size, sizeof(f->frame.size));
    *CAIRN_ADD(frames->chains) = cairn_chain_of(&f->frame);
}

static void line(struct facts *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(struct facts *f, const char *format, ...)
{
    char text[TEXT + 64];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof(text) - 1, format, args);
    va_end(args);
    n = n < (int)sizeof(text) - 1 ? n : (int)sizeof(text) - 2;
    text[n] = '\n';
    append(f, text, (size_t)n + 1);
}

static void date(struct facts *f, const char *key, int64_t filetime)
{
    char text[CAIRN_DATE_TEXT];
    if (filetime >= CAIRN_UNIX_EPOCH && filetime <= CAIRN_DATE_LATEST)
        line(f, "etl.%s=%s", key, cairn_date_text(text, filetime, 0));
    else if (filetime)
        line(f, "etl.%s=not a date: %" PRId64, key, filetime);
}

/* "+01:00", "Z": so many minutes from local time to UTC. */
static void zone(char out[CAIRN_DATE_TEXT], int64_t bias)
{
    char day[CAIRN_DATE_TEXT], time[CAIRN_DATE_TEXT];
    cairn_date_parts(day, time, out, CAIRN_UNIX_EPOCH, (int32_t)(bias % (24 * 60)) * -60);
}

static void tell_zone(struct facts *f)
{
    const struct etl_time_zone *z = &f->etl->zone;
    char name[TEXT], standard[CAIRN_DATE_TEXT], daylight[CAIRN_DATE_TEXT] = "";
    cairn_printable(name, sizeof(name), (const uint8_t *)z->name, sizeof(z->name), 2);
    zone(standard, (int64_t)z->bias + z->standard_bias);
    zone(daylight, (int64_t)z->bias + z->daylight_bias);
    if (z->standard[ETL_MONTH] && z->daylight[ETL_MONTH])
        line(f, "etl.zone=%s, daylight time %s, %s", standard, daylight, name);
    else
        line(f, "etl.zone=%s, %s", standard, name);
}

/* ---- one walk --------------------------------------------------------------------------------------------------- */

static struct named *find(const struct table *t, uint32_t id)
{
    uint32_t position = cairn_map_find(&t->by_id, id);
    return position ? &t->list.items[position - 1] : NULL;
}

/* IDs are used again: the last that came with one has it; that one goes says nothing new but a name that is missing. */
static void note(struct table *t, uint32_t id, const struct cairn_rundown *r)
{
    struct named *n = find(t, id);
    if (n && r->ends && (n->name[0] || n->pid != r->pid))
        return;
    if (!n) {
        cairn_map_add(&t->by_id, id, (uint32_t)t->list.count);
        n = CAIRN_ADD(t->list);
        n->id = id;
    }
    n->pid = r->pid;
    if (r->has_base && r->base_priority >= 0)
        n->base = r->base_priority;
    if (r->name[0])
        memcpy(n->name, r->name, sizeof(n->name));
}

static void note_rundown(struct facts *f, const struct cairn_event *e)
{
    struct cairn_rundown r;
    cairn_rundown_read(&r, e);
    if (r.kind == CAIRN_RUNDOWN_PROCESS)
        note(&f->processes, r.pid, &r);
    else if (r.kind == CAIRN_RUNDOWN_THREAD && r.tid)
        note(&f->threads, r.tid, &r);
    cairn_lives_note(&f->etl->lives, &r, e);
    cairn_file_names_note(&f->etl->files, e);
}

static void note_stream(struct facts *f, const struct cairn_event *e)
{
    static const char text[] = {CAIRN_STREAM_HEADER,  CAIRN_STREAM_MACHINE, CAIRN_STREAM_NAMES, CAIRN_STREAM_SYMBOLS,
                                CAIRN_STREAM_SESSION, CAIRN_STREAM_END,     CAIRN_STREAM_TRUTH, CAIRN_STREAM_LAST};
    const uint32_t head = sizeof(struct etl_cairn_stream);
    if (e->size < head || e->version != HOOK_VERSION_CAIRN_STREAM || !memchr(text, e->payload[0], sizeof(text))) {
        f->log->bad_frames++;
        return;
    }
    begin(f, e->payload[0]);
    append(f, e->payload + head, e->size - head);
    end(f);
    f->log->own |= e->payload[0] == CAIRN_STREAM_SESSION;
    f->names |= e->payload[0] == CAIRN_STREAM_NAMES;
    f->symbols |= e->payload[0] == CAIRN_STREAM_SYMBOLS;
}

/* A session may be started with no group, and end with none. */
static void note_extension(struct facts *f, const struct cairn_event *e)
{
    struct etw_header_extension now;
    if (e->size < sizeof(now))
        return;
    memcpy(&now, e->payload, sizeof(now));
    for (unsigned i = 0; i < 8; i++)
        f->extension.group_masks[i] |= now.group_masks[i];
    f->extension.version = f->has_extension ? f->extension.version : now.version;
    f->has_extension = true;
}

static void gather(struct facts *f)
{
    for (size_t i = 0; i < f->etl->buffers.count; i++) {
        const struct cairn_etl_buffer *b = &f->etl->buffers.items[i];
        struct cairn_event e;
        for (uint32_t at = 0; cairn_event_at(b->events, b->size, at, &e); at += e.space) {
            if (e.hook == HOOK_CAIRN_STREAM && !e.unknown_items)
                note_stream(f, &e);
            else if (e.hook == HOOK_HEADER_EXTENSION)
                note_extension(f, &e);
            else if (e.hook == CAIRN_NO_HOOK)
                cairn_descriptions_note(&f->etl->descriptions, &e);
            else
                note_rundown(f, &e);
        }
    }
}

/* ---- what it comes to, as text ---------------------------------------------------------------------------------- */

static void tell_names(struct facts *f)
{
    begin(f, CAIRN_STREAM_NAMES);
    for (size_t i = 0; i < f->threads.list.count && !f->names; i++) {
        const struct named *n = &f->threads.list.items[i];
        const struct named *named = n->name[0] ? n : find(&f->processes, n->pid);
        if (named && named->name[0])
            line(f, "%" PRIu32 " %" PRId32 " - %s", n->id, n->base, named->name);
    }
    end(f);
    begin(f, CAIRN_STREAM_SYMBOLS);
    for (size_t i = 0; i < f->etl->lives.images.count && !f->symbols; i++) {
        const struct cairn_etl_life *l = &f->etl->lives.images.items[i];
        if (l->pid == 0 && l->name[0] && l->size)
            line(f, "%" PRIx64 " %" PRIx64 " %s", l->base, l->size, l->name);
    }
    end(f);
}

static void tell_clock(struct facts *f)
{
    static const char *const names[] = {"performance counter", "performance counter", "system time", "CPU cycles"};
    const struct cairn_etl *etl = f->etl;
    uint64_t hz = cairn_etl_hz(etl);
    const char *name = etl->times.clock_type < 4 ? names[etl->times.clock_type] : "unknown type, read as a counter";
    if (hz)
        line(f, "etl.clock=%s, %" PRIu64 " Hz", name, hz);
    else
        line(f, "etl.clock=%s, its frequency is 0 in the file: 10 MHz assumed", name);
}

/* "secure, system logger": by the names of Microsoft's constants (EVENT_TRACE_..._MODE). */
static void tell_mode(struct facts *f, uint32_t mode)
{
    /* clang-format off */
    static const struct {
        uint32_t bit;
        const char *name;
    } names[] = {
        {ETL_MODE_SEQUENTIAL, "sequential"}, {ETL_MODE_CIRCULAR, "circular"}, {0x4, "appends"}, {0x8, "new files"},
        {0x20, "preallocated"}, {0x40, "cannot be stopped"}, {0x80, "secure"}, {0x100, "real time"},
        {0x200, "opened late"}, {ETL_MODE_BUFFERING, "in memory"}, {0x800, "private logger"}, {0x1000, "adds header"},
        {0x2000, "sizes in KB"}, {0x4000, "global sequence numbers"}, {0x8000, "local sequence numbers"},
        {0x10000, "relogged"}, {0x20000, "private, in its process"}, {0x400000, "stops at hybrid shutdown"},
        {0x800000, "persists over hybrid shutdown"}, {0x1000000, "paged memory"},
        {ETL_MODE_SYSTEM_LOGGER, "system logger"}, {0x4000000, "compressed"}, {0x8000000, "independent session"},
        {0x10000000, "no buffers of one processor"}, {0x20000000, "blocking"}, {0x80000000, "in triage dumps"},
    };
    /* clang-format on */
    char text[TEXT];
    uint32_t left = mode;
    int n = snprintf(text, sizeof(text), "0x%" PRIx32, mode);
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (mode & names[i].bit) {
            n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%s", left == mode ? ": " : ", ", names[i].name);
            left &= ~names[i].bit;
        }
    if (left)
        snprintf(text + n, sizeof(text) - (size_t)n, "%s0x%" PRIx32 " without a name", left == mode ? ": " : ", ",
                 left);
    line(f, "etl.mode=%s", text);
}

/* What the file says of its providers' events. */
static void tell_descriptions(struct facts *f)
{
    const struct cairn_descriptions *d = &f->etl->descriptions;
    if (d->events.count || d->maps.maps.count || d->unread)
        line(f, "etl.descriptions=%zu events, %zu maps, and %zu that cannot be read", d->events.count,
             d->maps.maps.count, d->unread);
    if (d->manifests.read || d->manifests.unread)
        line(f, "etl.manifests=%zu, and %zu that cannot be read", d->manifests.read, d->manifests.unread);
}

static void tell_header(struct facts *f)
{
    const struct cairn_etl *etl = f->etl;
    const struct etl_logfile_header *h = &etl->header;
    char logger[TEXT], file[TEXT];
    uint32_t taken = cairn_printable(logger, sizeof(logger), etl->names, etl->names_bytes, 2);
    cairn_printable(file, sizeof(file), etl->names + taken, etl->names_bytes - taken, 2);
    begin(f, CAIRN_STREAM_HEADER);
    line(f, "etl.logger=%s", logger);
    line(f, "etl.file=%s", file);
    line(f, "etl.build=%" PRIu32, h->provider_version);
    line(f, "etl.version=%u.%u, layout %u.%u", h->version[0], h->version[1], h->version[2], h->version[3]);
    line(f, "etl.pointer_bytes=%" PRIu32, etl->pointer);
    line(f, "etl.cpus=%" PRIu32, h->processors);
    line(f, "etl.cpu_mhz=%" PRIu32, h->cpu_mhz);
    tell_clock(f);
    line(f, "etl.timer_us=%" PRIu32, h->timer_resolution / 10);
    date(f, "booted", etl->times.boot_time);
    date(f, "began", etl->times.start_time);
    date(f, "ended", h->end_time);
    tell_zone(f);
    tell_mode(f, h->log_file_mode);
    line(f, "etl.buffer_bytes=%" PRIu32, h->buffer_size);
    line(f, "etl.buffers=%zu%s", etl->buffers.count, etl->compressed ? ", compressed" : "");
    line(f, "etl.events_lost=%" PRIu32, h->events_lost);
    line(f, "etl.buffers_lost=%" PRIu32, etl->times.buffers_lost);
    if (f->has_extension) {
        char masks[80];
        int n = 0;
        for (unsigned i = 0; i < 8; i++)
            n +=
                snprintf(masks + n, sizeof(masks) - (size_t)n, "%s%" PRIx32, i ? " " : "", f->extension.group_masks[i]);
        line(f, "etl.group_masks=%s (hexadecimal)", masks);
        line(f, "etl.event_version=%" PRIu32, f->extension.version);
    }
    line(f, "etl.processes=%zu", f->processes.list.count);
    line(f, "etl.threads=%zu", f->threads.list.count);
    line(f, "etl.images=%zu", f->etl->lives.images.count);
    tell_descriptions(f);
    end(f);
}

void cairn_etl_gather(struct cairn_log *log, struct cairn_etl *etl)
{
    struct facts f = {.log = log, .etl = etl};
    gather(&f);
    cairn_lives_settle(&etl->lives);
    cairn_file_names_settle(&etl->files);
    cairn_descriptions_settle(&etl->descriptions);
    tell_header(&f);
    tell_names(&f);
    log->frames.total = log->frames.count;
    log->frames.total_known = true;
    free(f.processes.list.items);
    free(f.threads.list.items);
    cairn_map_free(&f.processes.by_id);
    cairn_map_free(&f.threads.by_id);
}
