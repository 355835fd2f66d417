/* SPDX-License-Identifier: MIT */
#include "tools/cairn/report.h"

#include <inttypes.h>
#include <stdarg.h>

#include "tools/cairn/colour.h"
#include "tools/cairn/etl.h"
#include "tools/cairn/names.h"
#include "tools/cairn/show.h"

#define LINES_MAX 20 /* of one kind */

/* "missing: what": how a line begins that is no note. */
__attribute__((format(printf, 3, 4)))
static void bad(FILE *to, const char *word, const char *format, ...)
{
    va_list args;
    fprintf(to, "%s%s%s: ", cairn_colour(to, CAIRN_COLOUR_BAD), word, cairn_colour(to, CAIRN_COLOUR_OFF));
    va_start(args, format);
    vfprintf(to, format, args);
    va_end(args);
}

static void streams_of(char out[64], const struct cairn_run *run)
{
    const char *before = run->before ? cairn_stream_name(run->before) : "start of the dump";
    const char *after = run->after ? cairn_stream_name(run->after) : "end of the dump";
    if (run->before == run->after)
        snprintf(out, 64, "%s", before);
    else
        snprintf(out, 64, "between %s and %s", before, after);
}

static void report_missing(FILE *to, const struct cairn_frames *f)
{
    for (size_t i = 0; i < f->missing.count && i < LINES_MAX; i++) {
        const struct cairn_run *run = &f->missing.items[i];
        char where[64], frames[CAIRN_SHOWN];
        streams_of(where, run);
        bad(to, "missing", "%s of %s%" PRIu64 " (%s)\n", cairn_show_run(frames, run),
                f->total_known ? "" : "at least ", f->total, where);
    }
    if (f->missing.count > LINES_MAX)
        bad(to, "missing", "%zu more %s, %" PRIu64 " frames in all\n", f->missing.count - LINES_MAX,
                cairn_plural(f->missing.count - LINES_MAX, "place", "places"), f->missing_frames);
    if (!f->total_known)
        bad(to, "missing", "header and trailer: nothing says how many frames there were\n");
    if (f->totals_differ)
        bad(to, "damaged", "header, trailer and frames do not agree on how many there are\n");
}

static void report_suspects(FILE *to, const struct cairn_frames *f)
{
    for (size_t i = 0; i < f->suspects.count && i < LINES_MAX; i++) {
        const struct cairn_suspect *s = &f->suspects.items[i];
        bad(to, "damaged", "line %" PRIu64 ": %s", s->line, cairn_flaw_text(s->flaw));
        if (s->numbered)
            fprintf(to, "; it calls itself frame %" PRIu32, s->number);
        if (s->stream)
            fprintf(to, "%s stream %s", s->numbered ? "," : "; it names", cairn_stream_name(s->stream));
        fputc('\n', to);
    }
    if (f->suspects.count > LINES_MAX)
        bad(to, "damaged", "%zu %s more\n", f->suspects.count - LINES_MAX,
                cairn_plural(f->suspects.count - LINES_MAX, "line", "lines"));
}

static void report_flaws(FILE *to, const struct cairn_etl *etl)
{
    char what[CAIRN_SHOWN];
    for (size_t i = 0; i < etl->flaws.count && i < LINES_MAX; i++)
        bad(to, "damaged", "%s\n", cairn_show_flaw(what, &etl->flaws.items[i]));
    if (etl->flaws.count > LINES_MAX)
        bad(to, "damaged", "%zu more things in the file\n", etl->flaws.count - LINES_MAX);
}

static void report_holes(FILE *to, const struct cairn_log *log)
{
    unsigned lines = 0, more = 0;
    for (uint32_t c = 0; c < log->cpus; c++)
        for (size_t i = 0; i < log->cpu[c].holes.count; i++) {
            const struct cairn_hole *h = &log->cpu[c].holes.items[i];
            char what[CAIRN_SHOWN];
            if (h->kind != CAIRN_HOLE_BYTES && h->kind != CAIRN_HOLE_BUFFERS)
                continue;
            if (lines++ < LINES_MAX)
                bad(to, "missing", "CPU %" PRIu32 ": %s\n", c, cairn_show_hole(what, log, h));
            else
                more++;
        }
    if (more)
        bad(to, "missing", "%u more %s in the CPUs' streams\n", more, cairn_plural(more, "place", "places"));
}

/* Trace frames may be gone at the end of the stream, where the end summary must say how many buffers each CPU began. */
static void report_unknown_tails(FILE *to, const struct cairn_log *log)
{
    if (!log->frames.missing.count)
        return;
    for (uint32_t c = 0; c < log->cpus; c++)
        if (!log->cpu[c].end.buffers_known) {
            bad(to, "missing", "the end summary: which CPU's last buffers are missing cannot be told\n");
            return;
        }
}

bool cairn_report_damage(FILE *to, const struct cairn_log *log)
{
    const struct cairn_frames *f = &log->frames;
    if (log->etl)
        report_flaws(to, log->etl);
    report_missing(to, f);
    report_suspects(to, f);
    report_holes(to, log);
    report_unknown_tails(to, log);
    if (log->bad_frames)
        bad(to, "damaged", "in %" PRIu32 " %s: what that stream cannot hold\n", log->bad_frames,
                cairn_plural(log->bad_frames, "frame or line", "frames or lines"));
    if (log->bad_pieces)
        bad(to, "damaged", "%" PRIu32 " %s bytes that are no events\n", log->bad_pieces,
                log->etl ? cairn_plural(log->bad_pieces, "time a buffer holds", "times a buffer holds")
                         : cairn_plural(log->bad_pieces, "trace frame holds", "trace frames hold"));
    if (f->repeated || f->misplaced)
        fprintf(to, "note: %" PRIu32 " %s twice, %" PRIu32 " out of order: nothing is lost by that\n", f->repeated,
                cairn_plural(f->repeated, "frame came", "frames came"), f->misplaced);
    if (f->again)
        fprintf(to, "note: %" PRIu32 " %s cut short by what came in between, and came whole after it\n", f->again,
                cairn_plural(f->again, "frame was", "frames were"));
    if (log->other_sessions)
        fprintf(to, "note: %" PRIu32 " %s to sessions this version does not know\n", log->other_sessions,
                cairn_plural(log->other_sessions, "frame belongs", "frames belong"));
    return cairn_log_damaged(log);
}
