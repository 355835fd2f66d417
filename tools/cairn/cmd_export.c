/* SPDX-License-Identifier: MIT */
/* cairn export: a log as a file that other tools read. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/cairn/command.h"
#include "tools/cairn/etl.h"
#include "tools/cairn/etl_export.h"

static const char *const formats[] = {"etl", NULL};
static unsigned format = UINT32_MAX;
static const char *path;
static bool strict;
static const struct cairn_option options[] = {
    {0, "to", "FORMAT", "etl: as Windows writes its kernel's traces", .word = &format, .words = formats},
    {'o', "output", "FILE", "where to", .text = &path},
    {0, "strict", NULL, "only what Windows itself writes", .on = &strict},
    CAIRN_LOG_OPTIONS,
};

static void tell(const struct cairn_etl_export *x)
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
        printf("with it: %" PRIu64 " events of Cairn's own that hold the log's text and truth\n", x->streams);
    if (x->strict)
        printf("left out: Cairn's own events (%" PRIu64 "), PEBS indexes of 0525H (%" PRIu64 "), 0525H whose\n"
               "  switches 0524H tell as well (%" PRIu64 "), the log's text but names, the truth\n",
               x->own_events, x->stamps, x->doubled);
    if (x->strict && cairn_slice_is(every, "1"))
        printf("note: every release of a spin lock was an event (spinlock.every=1), which no\n"
               "  event of Windows' tells: readers take them for samples, and estimate too many\n");
    if (x->events_lost || x->buffers_lost)
        printf("lost before: %" PRIu64 " events, %" PRIu64 " buffers\n", x->events_lost, x->buffers_lost);
}

/* Whether the path is a file with something in it that is no ETL file: a log, perhaps the one that is exported. */
static bool is_kept(void)
{
    struct stat st;
    char start[sizeof(struct wmi_buffer_header) + sizeof(struct etl_logfile_header)];
    if (stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
        return false;
    FILE *f = fopen(path, "rb");
    size_t size = f ? fread(start, 1, sizeof(start), f) : 0;
    if (f)
        fclose(f);
    return f && !cairn_etl_is(start, size);
}

static int show(const struct cairn_log *log)
{
    if (format == UINT32_MAX)
        return cairn_usage(&cairn_export_command, "--to etl says what it is to become");
    if (!path)
        return cairn_usage(&cairn_export_command, "-o FILE says where to");
    if (log->etl) {
        fprintf(stderr, "cairn: that is an ETL file already: nothing to export\n");
        return CAIRN_BAD;
    }
    if (is_kept()) {
        fprintf(stderr, "cairn: %s: is there, and no ETL file: name another with -o\n", path);
        return CAIRN_USAGE;
    }
    struct cairn_etl_export x;
    cairn_etl_export(&x, log, strict);
    if (x.writer.over) {
        fprintf(stderr, "cairn: with buffers of %" PRIu32 " bytes, as the log has them, the file would have over %"
                PRIu64 " MiB, %u times the log: not written\n", x.writer.buffer_bytes, x.writer.most >> 20,
                CAIRN_ETL_GROWTH_MAX);
        cairn_etl_export_free(&x);
        return CAIRN_BAD;
    }
    FILE *out = fopen(path, "wb");
    int e = out ? cairn_etl_write(&x.writer, out) : -errno;
    if (out && fclose(out) && !e)
        e = -errno;
    if (e)
        fprintf(stderr, "cairn: %s: %s\n", path, strerror(-e));
    else
        tell(&x);
    cairn_etl_export_free(&x);
    return e ? CAIRN_UNREADABLE : CAIRN_GOOD;
}

const struct cairn_command cairn_export_command = {
    .name = "export",
    .arguments = "--to etl LOG -o FILE",
    .summary = "the trace as an ETL file of Windows",
    .options = options,
    .notes = "Processes, threads, the image and the machine come before and behind the events,\n"
             "made from what the log says where it has no such events. Without --strict the\n"
             "file also holds, as events of Cairn's own, all else the log has: cairn reads it\n"
             "as it reads the log. A FILE that is there and no ETL file is kept.\n"
             "docs/etl.md has the details.\n",
    .show = show,
};
