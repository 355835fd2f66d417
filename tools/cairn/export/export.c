/* SPDX-License-Identifier: MIT */
/* `cairn export`: opens the output, gives a writer each item in time order, and keeps files that are not its own. */
#include "tools/cairn/export/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/error.h"
#include "tools/cairn/export/folder.h"
#include "tools/cairn/export/partial.h"
#include "tools/cairn/log/locks.h"
#include "tools/cairn/model/filter.h"

#define NS UINT64_C(1000000000)

bool cairn_out_begins(const struct cairn_output *o, int64_t *time)
{
    int64_t end = INT64_MAX;
    *time = o->log->session.start;
    cairn_filter_cut(time, &end);
    return o->log->session.start_known;
}

bool cairn_out_ends(const struct cairn_output *o, int64_t *time)
{
    int64_t begin = INT64_MIN;
    *time = o->log->session.stop;
    cairn_filter_cut(&begin, time);
    return o->log->session.stop_known;
}

int64_t cairn_out_ns(const struct cairn_output *o, int64_t time)
{
    const struct cairn_session *s = &o->log->session;
    const __int128 units = (__int128)time - (s->start_known ? s->start : 0);
    return (int64_t)(units * (__int128)NS / (__int128)(s->hz ? s->hz : TRACE_CLOCK_HZ));
}

bool cairn_out_wall(const struct cairn_output *o, int64_t *unix_ns, char text[CAIRN_DATE_TEXT])
{
    const struct cairn_session *s = &o->log->session;
    if (!s->wall.known)
        return false;
    const int64_t began = cairn_date_at(o->log, s->start_known ? s->start : 0);
    cairn_date_text(text, began, 0);
    return began > CAIRN_UNIX_EPOCH && !__builtin_mul_overflow(began - CAIRN_UNIX_EPOCH, 100, unix_ns);
}

const char *cairn_out_switches_from(const struct cairn_output *o)
{
    return !cairn_has_switches(o->log, o->compact) ? NULL : o->compact ? "0525H" : "0524H";
}

const char *cairn_out_function(const struct cairn_output *o, uint64_t address, char out[CAIRN_SHOWN])
{
    return cairn_function_name(o->log, o->elf, address, out);
}

const char *cairn_out_samples(const struct cairn_output *o, uint64_t count)
{
    return cairn_samples_name(cairn_samples_kind(o->log), count);
}

static struct cairn_held held_at(const struct cairn_log *log, const struct cairn_lock_event *event)
{
    struct cairn_held h = {.is = cairn_lock_read(event), .timed = log->session.known};
    if (h.timed) {
        h.acquired = trace_clock_units(&log->session.clock, h.is.acquire_time);
        h.released = trace_clock_units(&log->session.clock, h.is.release_time);
    }
    return h;
}

static void event(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_writer *w = o->writer;
    struct cairn_live live;
    struct cairn_sample sample;
    if (item->lock) {
        const struct cairn_held held = held_at(o->log, item->lock);
        if (w->lock)
            w->lock(o, item, &held);
    } else if (w->event) {
        const struct cairn_live *is = cairn_live_of(item->event, &live) ? &live : NULL;
        o->sample = w->samples && cairn_samples_take(&o->samples, item->cpu, is, &sample) ? &sample : NULL;
        w->event(o, item, is);
    }
}

static void tell_all(struct cairn_output *o, enum cairn_by by)
{
    const struct cairn_writer *w = o->writer;
    struct cairn_timeline t;
    const struct cairn_item *item;
    cairn_timeline_init(&t, o->log, -1, o->compact, by, w->branches);
    while ((item = cairn_timeline_next(&t)) != NULL) {
        void (*const tell)(struct cairn_output *, const struct cairn_item *) =
            item->kind == CAIRN_ITEM_SWITCH     ? w->on_switch
            : item->kind == CAIRN_ITEM_RECORD   ? w->record
            : item->kind == CAIRN_ITEM_EPOCH    ? w->epoch
            : item->kind == CAIRN_ITEM_BRANCHES ? w->branches
            : item->kind == CAIRN_ITEM_HOLE     ? w->lost
                                                : NULL;
        if (item->kind == CAIRN_ITEM_EVENT)
            event(o, item);
        else if (tell)
            tell(o, item);
    }
    cairn_timeline_free(&t);
}

static bool is_regular(const char *path)
{
    struct stat st;
    return stat(path, &st) ? errno == ENOENT : S_ISREG(st.st_mode);
}

static int open_output(struct cairn_output *o)
{
    if (o->writer->folder)
        return cairn_folder_begin(o);
    if (!o->path)
        o->file = stdout;
    else
        o->file = is_regular(o->path) ? cairn_partial_file(o->path) : fopen(o->path, "wb");
    return o->file ? 0 : -errno;
}

/* `e`: not 0 where there is to be no file. That, or negative errno. */
static int close_output(struct cairn_output *o, int e)
{
    if (!o->path)
        return e;
    if (fclose(o->file) && !e)
        e = -errno;
    if (!e)
        return cairn_partial_commit(NULL, NULL);
    cairn_partial_drop();
    return e;
}

/* As a writer's `end`. */
static int write_all(struct cairn_output *o, enum cairn_by by)
{
    const struct cairn_writer *w = o->writer;
    int e = o->log->input.error ? o->log->input.error : open_output(o);
    if (e)
        return e;
    if (w->samples)
        cairn_samples_read(&o->samples, o->log);
    if (w->begin)
        w->begin(o);
    if (w->on_switch || w->record)
        tell_all(o, by);
    if (!o->log->input.error) /* else it would say that this is all */
        e = w->end(o);
    if (!e)
        e = o->log->input.error;
    errno = EIO;
    if (!e && (fflush(o->file) || ferror(o->file)))
        e = -errno;
    return w->folder ? cairn_folder_end(o, e) : close_output(o, e);
}

/* Whether what is to be written is what is read, by whatever name. */
static bool is_input(const struct cairn_output *o)
{
    const struct cairn_input *input = &o->log->input;
    struct stat in, out;
    const bool file = !input->data || input->loaded;
    return file && fstat(input->fd, &in) == 0 && S_ISREG(in.st_mode) &&
           (o->path ? stat(o->path, &out) : fstat(STDOUT_FILENO, &out)) == 0 && in.st_dev == out.st_dev &&
           in.st_ino == out.st_ino;
}

/* Whether the path is a file with something in it that this format has not written: a log, perhaps the one that is
 * exported. */
static bool is_kept(const struct cairn_output *o)
{
    struct stat st;
    char start[4096];
    if (o->writer->folder)
        return cairn_folder_is_kept(o);
    if (!o->path || stat(o->path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
        return false;
    FILE *f = fopen(o->path, "rb");
    const size_t size = f ? fread(start, 1, sizeof(start), f) : 0;
    if (f)
        fclose(f);
    return f && !o->writer->own(start, size);
}

static bool is_stream(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* `e`: why the file could not be written; a negative errno. */
static void tell_unwritten(const char *path, int e)
{
    if (e == -EISDIR)
        cairn_error("%s: is a folder; name a file with -o", path);
    else if (*path && (e == -ENOENT || e == -ENOTDIR))
        cairn_error("%s: its folder does not exist; create it, or name another file with -o", path);
    else
        cairn_file_error(path, e);
}

int cairn_export(struct cairn_output *o, enum cairn_by by)
{
    const struct cairn_writer *w = o->writer;
    if (is_input(o)) {
        cairn_error("%s: is the log itself; name another file with -o", o->path ? o->path : "standard output");
        return CAIRN_USAGE;
    }
    if (is_kept(o)) {
        cairn_error("%s: exists and is not a file of the format %s; name another file with -o", o->path, w->name);
        return CAIRN_USAGE;
    }
    if (w->needs_file && is_stream(o->path)) {
        cairn_error("%s: is not a regular file, which the format %s needs; name a file with -o", o->path, w->name);
        return CAIRN_USAGE;
    }
    o->compact = cairn_prefers_compact(o->log);
    o->state = cairn_alloc(w->state);
    int status = w->prepare ? w->prepare(o) : CAIRN_GOOD, e = status ? 0 : write_all(o, by);
    if (e > 0) {
        status = e;
    } else if (e) {
        const char *to = o->path ? o->path : "standard output";
        if (o->log->input.error)
            cairn_error("%s: %s: the log could not be read to its end", to, o->path ? "not written" : "cut short");
        else
            tell_unwritten(to, e);
        status = CAIRN_UNREADABLE;
    }
    if (w->free)
        w->free(o);
    cairn_samples_free(&o->samples);
    free(o->state);
    return status;
}
