/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* open_memstream */
#include "tools/cairn/log/damage.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/colour.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/log/etl/etl.h"
#include "tools/cairn/log/show.h"

#define NO_RUN SIZE_MAX

struct report {
    FILE *to;
    const struct cairn_log *log;
    size_t most, said, more;
};

/* What belongs to a run of missing frames: a hole of a CPU, or a line of the log that was one of these frames. */
struct detail {
    size_t run, order; /* of a run, the order in which they are told */
    uint32_t cpu;
    const struct cairn_hole *hole;
    const struct cairn_suspect *suspect;
};

struct details {
    struct detail *items;
    size_t count, room;
};

static bool is_room(struct report *r)
{
    if (r->said < r->most)
        r->said++;
    else
        r->more++;
    return !r->more;
}

/* "missing: what": how a line begins that is no note. */
__attribute__((format(printf, 3, 4))) static void bad(struct report *r, const char *word, const char *format, ...)
{
    va_list args;
    char *text;
    if (!is_room(r))
        return;
    va_start(args, format);
    const int size = vasprintf(&text, format, args);
    va_end(args);
    if (size < 0)
        return;
    fprintf(r->to, "%s%s%s: ", cairn_colour(r->to, CAIRN_COLOUR_BAD), word, cairn_colour(r->to, CAIRN_COLOUR_OFF));
    cairn_wrap_for(r->to, (unsigned)strlen(word) + 2, "", 2, (struct cairn_slice){text, (uint32_t)size});
    free(text);
}

/* ---- frames, and what was in them -------------------------------------------------------------------------------- */

static void streams_of(char out[64], const struct cairn_run *run)
{
    const char *before = run->before ? cairn_stream_name(run->before) : "start of the dump";
    const char *after = run->after ? cairn_stream_name(run->after) : "end of the dump";
    if (run->before == run->after)
        snprintf(out, 64, "%s", before);
    else
        snprintf(out, 64, "between %s and %s", before, after);
}

static size_t run_between(const struct cairn_frames *f, uint64_t after, uint64_t before)
{
    const struct cairn_run *run =
        before <= UINT32_MAX ? cairn_missing_between(f, (uint32_t)after, (uint32_t)before) : NULL;
    return run ? (size_t)(run - f->missing.items) : NO_RUN;
}

static struct details collect(const struct cairn_log *log)
{
    const struct cairn_frames *f = &log->frames;
    struct details all = {0};
    for (uint32_t c = 0; c < log->cpus; c++)
        for (size_t i = 0; i < log->cpu[c].holes.count; i++) {
            const struct cairn_hole *h = &log->cpu[c].holes.items[i];
            if (h->kind == CAIRN_HOLE_BYTES || h->kind == CAIRN_HOLE_BUFFERS)
                *CAIRN_ADD(all) = (struct detail){
                    .run = h->malformed ? NO_RUN : run_between(f, h->after, h->before), .cpu = c, .hole = h};
        }
    for (size_t i = 0; i < f->suspects.count; i++) {
        const struct cairn_suspect *s = &f->suspects.items[i];
        const size_t run = s->numbered ? run_between(f, s->number, (uint64_t)s->number + 1) : NO_RUN;
        *CAIRN_ADD(all) = (struct detail){.run = run, .suspect = s};
    }
    for (size_t i = 0; i < all.count; i++)
        all.items[i].order = i;
    return all;
}

static int by_run(const void *a, const void *b)
{
    const struct detail *x = a, *y = b;
    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static void print_detail(FILE *to, const struct detail *d)
{
    char part[CAIRN_SHOWN];
    if (d->hole)
        fprintf(to, "CPU %" PRIu32 ": %s%s", d->cpu, cairn_show_hole_part(part, d->hole),
                d->hole->kind == CAIRN_HOLE_BUFFERS && d->hole->bytes ? ", and parts of others" : "");
    else
        fprintf(to, "line %" PRIu64 ": %s", d->suspect->line, cairn_flaw_text(d->suspect->flaw));
}

/* One that is of no run of missing frames. */
static void report_detail(struct report *r, const struct detail *d)
{
    char what[CAIRN_SHOWN], number[24] = "";
    const struct cairn_suspect *s = d->suspect;
    if (d->hole) {
        bad(r, "missing", "CPU %" PRIu32 ": %s", d->cpu, cairn_show_hole(what, r->log, d->hole));
        return;
    }
    if (s->numbered)
        snprintf(number, sizeof(number), " frame %" PRIu32, s->number);
    bad(r, "damaged", "line %" PRIu64 ": %s%s%s%s%s", s->line, cairn_flaw_text(s->flaw),
        s->numbered ? "; it says that it is" : "", number,
        !s->stream    ? ""
        : s->numbered ? ", stream "
                      : "; it says that it is of stream ",
        s->stream ? cairn_stream_name(s->stream) : "");
}

static void report_run(struct report *r, const struct cairn_run *run, const struct detail *detail, size_t count)
{
    const struct cairn_frames *f = &r->log->frames;
    char where[64], frames[CAIRN_SHOWN], *text = NULL;
    size_t size;
    FILE *list = open_memstream(&text, &size);
    const size_t told = count < r->most ? count : r->most;
    if (!list)
        return;
    for (size_t i = 0; i < told; i++) {
        fputs(i ? "; " : ": ", list);
        print_detail(list, &detail[i]);
    }
    if (told < count)
        fprintf(list, "; and %zu more", count - told);
    if (fclose(list) == 0) {
        streams_of(where, run);
        bad(r, "missing", "%s of %s%" PRIu64 " (%s)%s", cairn_show_run(frames, run), f->total_known ? "" : "at least ",
            f->total, where, text);
    }
    free(text);
}

static void report_frames(struct report *r)
{
    const struct cairn_frames *f = &r->log->frames;
    struct details all = collect(r->log);
    size_t at = 0;
    if (all.count)
        qsort(all.items, all.count, sizeof(*all.items), by_run);
    for (size_t i = 0; i < f->missing.count; i++) {
        const size_t first = at;
        while (at < all.count && all.items[at].run == i)
            at++;
        report_run(r, &f->missing.items[i], all.count ? all.items + first : NULL, at - first);
    }
    if (!f->total_known)
        bad(r, "missing", "header and trailer: the number of frames is unknown");
    if (f->totals_differ)
        bad(r, "damaged", "header, trailer and frames disagree about the number of frames");
    for (; at < all.count; at++)
        report_detail(r, &all.items[at]);
    free(all.items);
}

/* Trace frames may be gone at the end of the stream, where the end summary must say how many buffers each CPU began. */
static void report_unknown_tails(struct report *r)
{
    if (!r->log->frames.missing.count)
        return;
    for (uint32_t c = 0; c < r->log->cpus; c++)
        if (!r->log->cpu[c].end.buffers_known) {
            bad(r, "missing", "the end summary: it is unknown whether a CPU's last buffers are missing");
            return;
        }
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void report_notes(FILE *to, const struct cairn_log *log)
{
    const struct cairn_frames *f = &log->frames;
    if (f->repeated)
        fprintf(to, "note: %" PRIu32 " %s twice; nothing is lost\n", f->repeated,
                cairn_plural(f->repeated, "frame came", "frames came"));
    if (f->misplaced)
        fprintf(to, "note: %" PRIu32 " %s out of order; nothing is lost\n", f->misplaced,
                cairn_plural(f->misplaced, "frame came", "frames came"));
    if (f->again)
        fprintf(to, "note: %" PRIu32 " %s cut short by other output, and came whole later\n", f->again,
                cairn_plural(f->again, "frame was", "frames were"));
    if (f->unreadable)
        fprintf(to, "note: %" PRIu64 " %s packed after a missing one, and cannot be read without it\n", f->unreadable,
                cairn_plural((uint32_t)f->unreadable, "frame was", "frames were"));
    if (log->other_sessions)
        fprintf(to, "note: %" PRIu32 " %s to sessions that this version of cairn does not know\n", log->other_sessions,
                cairn_plural(log->other_sessions, "frame belongs", "frames belong"));
}

bool cairn_report_damage(FILE *to, const struct cairn_log *log, size_t most)
{
    struct report r = {.to = to, .log = log, .most = most};
    char what[CAIRN_SHOWN];
    for (size_t i = 0; log->etl && i < log->etl->flaws.count; i++)
        bad(&r, "damaged", "%s", cairn_show_flaw(what, &log->etl->flaws.items[i]));
    report_frames(&r);
    report_unknown_tails(&r);
    if (log->bad_frames)
        bad(&r, "damaged", "in %" PRIu32 " %s: data that the stream cannot have", log->bad_frames,
            cairn_plural(log->bad_frames, "frame or line", "frames or lines"));
    if (log->bad_pieces)
        bad(&r, "damaged", "%" PRIu32 " %s bytes that are not events", log->bad_pieces,
            log->etl ? cairn_plural(log->bad_pieces, "time a buffer holds", "times a buffer holds")
                     : cairn_plural(log->bad_pieces, "trace frame holds", "trace frames hold"));
    if (r.more)
        fprintf(to, "and %zu more: cairn check names each\n", r.more);
    if (log->frames.unlisted)
        fprintf(to, "and at most %" PRIu64 " more damaged %s: only the first %u are looked at\n", log->frames.unlisted,
                cairn_plural(log->frames.unlisted, "frame", "frames"), CAIRN_SUSPECTS_MOST);
    report_notes(to, log);
    return cairn_log_damaged(log);
}
