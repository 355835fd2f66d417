/* SPDX-License-Identifier: MIT */
/* A Windows ETL file. It consists of the log's own buffers (export.h), so this writer gets no single events. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/cairn/base/error.h"
#include "tools/cairn/export/etl/export.h"
#include "tools/cairn/export/writer.h"
#include "tools/cairn/log/etl/etl.h"

static int prepare(struct cairn_output *o)
{
    struct cairn_etl_export *x = o->state;
    if (o->log->etl) {
        cairn_error("%s: is already an ETL file, so there is nothing to convert", o->log->input.name);
        return CAIRN_BAD;
    }
    cairn_etl_export(x, o->log, o->strict);
    if (x->writer.error) {
        cairn_error("%s: %s: a temporary file of the same size is needed in %s; set TMPDIR to another folder", o->path,
                    strerror(-x->writer.error), x->writer.folder);
        return CAIRN_UNREADABLE;
    }
    if (!x->writer.over)
        return CAIRN_GOOD;
    cairn_error("the file was not written: with buffers of %" PRIu32
                " bytes, as in the log, it would have over %" PRIu64 " MiB, %u times the log",
                x->writer.buffer_bytes, x->writer.most >> 20, CAIRN_ETL_GROWTH_MAX);
    return CAIRN_BAD;
}

static void tell(const char *path, const struct cairn_etl_export *x)
{
    const struct cairn_slice every = cairn_key(&x->log->text, "option.spinlock.every");
    const struct cairn_etl_writer *w = &x->writer;
    printf("%s: %zu buffers of %" PRIu32 " bytes, %" PRIu64 " events\n", path, w->buffers.count, w->buffer_bytes,
           w->events);
    if (x->threads || x->images)
        printf("made from names and keys of the log, which has no such events: %" PRIu64 " processes,\n"
               "  %" PRIu64 " threads, %" PRIu64 " %s, at the start and at the end\n",
               x->processes, x->threads, x->images, x->images == 1 ? "image" : "images");
    if (x->streams)
        printf("added: %" PRIu64 " events of Cairn's own with the log's text and truth\n", x->streams);
    if (x->strict)
        printf("left out: Cairn's own events (%" PRIu64 "), PEBS indexes (%" PRIu64 "), 0525H whose switches\n"
               "  0524H has too (%" PRIu64 "), the log's text except names, the truth\n",
               x->own_events, x->stamps, x->doubled);
    if (x->strict && cairn_slice_is(every, "1"))
        printf("note: every release of a spin lock was an event (spinlock.every=1), which no\n"
               "  event of Windows says: readers take them for samples, and estimate too many\n");
    if (x->events_lost || x->buffers_lost)
        printf("lost before: %" PRIu64 " events, %" PRIu64 " buffers\n", x->events_lost, x->buffers_lost);
}

static int end(struct cairn_output *o)
{
    struct cairn_etl_export *x = o->state;
    int e = cairn_etl_write(&x->writer, o->file);
    if (!e)
        tell(o->path, x);
    return e;
}

static void free_export(struct cairn_output *o)
{
    cairn_etl_export_free(o->state);
}

const struct cairn_writer cairn_writer_etl = {
    .name = "etl",
    .summary = "file as Windows' kernel logger writes it. Where the log has no events for processes, threads, the "
               "image and the machine, cairn makes them from the rest of the log. Without --strict, events of "
               "Cairn's own hold everything else, and cairn reads the file like the log (docs/reference/etl.md)",
    .state = sizeof(struct cairn_etl_export),
    .needs_path = true,
    .own = cairn_etl_is,
    .prepare = prepare,
    .end = end,
    .free = free_export,
};
