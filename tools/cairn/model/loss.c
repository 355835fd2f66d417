/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/loss.h"
#include "tools/cairn/log/bts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/log/etl/etl.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/filter.h"

/* ---- by the drains, and by the end summary ----------------------------------------------------------------------- */

struct cairn_drain_sum cairn_drains_passed(const struct cairn_log *log, uint32_t cpu)
{
    struct cairn_drain_sum sum = {0};
    struct cairn_group g;
    if (!cairn_filter_narrow())
        return log->cpu[cpu].pebs.drains;
    cairn_group_init(&g, log, cpu);
    do
        for (size_t i = 0; i < g.epochs.count; i++)
            cairn_drains_add(&sum, &g.epochs.items[i], cairn_filter_time(g.epochs.items[i].time));
    while (cairn_group_next(&g));
    cairn_group_free(&g);
    return sum;
}

enum what { DROPPED, SWALLOWED, BRANCHES };

/* Of the drains of a CPU that pass by time. */
static struct cairn_lost of_cpu(const struct cairn_log *log, uint32_t c, enum what what)
{
    const struct cairn_cpu *cpu = &log->cpu[c];
    struct cairn_lost sum = {0};
    if (what != BRANCHES) {
        const struct cairn_drain_sum drains = cairn_drains_passed(log, c);
        return what == DROPPED ? drains.dropped : drains.swallowed;
    }
    if (!cairn_filter_narrow())
        return cpu->bts.lost;
    struct cairn_bts_group *g = cairn_alloc(sizeof(*g));
    const struct cairn_bts_drain *d;
    cairn_bts_group_init(g, log, c);
    while (cpu->bts.epochs && (d = cairn_bts_group_next(g)) != NULL)
        if (cairn_filter_time(d->time))
            cairn_lost_add(&sum, d->lost);
    cairn_bts_group_free(g);
    free(g);
    return sum;
}

static void add(struct cairn_lost *sum, struct cairn_lost lost)
{
    sum->counted += lost.counted;
    sum->unknown |= lost.unknown;
}

static struct cairn_lost of_log(const struct cairn_log *log, enum what what)
{
    struct cairn_lost sum = {0};
    for (uint32_t c = 0; c < log->cpus; c++)
        if (cairn_filter_cpu(c))
            add(&sum, of_cpu(log, c, what));
    return sum;
}

struct cairn_lost cairn_records_dropped(const struct cairn_log *log)
{
    return of_log(log, DROPPED);
}

struct cairn_lost cairn_samples_swallowed(const struct cairn_log *log)
{
    return of_log(log, SWALLOWED);
}

struct cairn_lost cairn_bts_lost(const struct cairn_log *log)
{
    return of_log(log, BRANCHES);
}

/* What the end summary says, of all drains, in the log or not; where it is missing, what the drains of the log say. */
static struct cairn_lost told(bool whole, bool known, uint64_t lost, struct cairn_lost drains)
{
    return !whole ? drains : known ? (struct cairn_lost){.counted = lost} : (struct cairn_lost){.unknown = true};
}

struct cairn_lost cairn_records_dropped_in_run(const struct cairn_log *log)
{
    struct cairn_lost sum = {0};
    for (uint32_t c = 0; c < log->cpus; c++) {
        const struct cairn_cpu_end *e = &log->cpu[c].end;
        if (cairn_filter_cpu(c))
            add(&sum, told(e->ds_known, e->ds_lost_known, e->ds[3], of_cpu(log, c, DROPPED)));
    }
    return sum;
}

struct lines {
    const struct cairn_log *log;
    cairn_tell *tell;
    void *to;
};

/* "what: which option". */
__attribute__((format(printf, 3, 4))) static void say(const struct lines *l, const char *option, const char *format,
                                                      ...)
{
    char text[512];
    va_list a;
    va_start(a, format);
    int n = vsnprintf(text, sizeof(text), format, a);
    va_end(a);
    snprintf(text + n, sizeof(text) - (size_t)n, ": %s", option);
    l->tell(l->to, text);
}

/* ---- trace ------------------------------------------------------------------------------------------------------- */

static uint64_t end_number(const struct cairn_log *log, const char *prefix, const char *what)
{
    uint64_t v = 0;
    cairn_slice_u64(cairn_key(&log->text, "%s%s", prefix, what), &v);
    return v;
}

/* A session's switches: tried, written, lost. */
static void add_switches(const struct cairn_log *log, const char *prefix, uint64_t sum[3])
{
    for (uint32_t c = 0; c < log->cpus; c++) {
        uint64_t v[3];
        bool known = cairn_slice_numbers(cairn_key(&log->text, "%scpu.%" PRIu32 ".switches", prefix, c), v, 3);
        for (unsigned i = 0; known && i < 3; i++)
            sum[i] += v[i];
    }
}

/* What the keys of a session's end begin with. */
static const char *prefix_of(char out[24], uint32_t number)
{
    snprintf(out, 24, number > 1 ? "end.session.%" PRIu32 "." : "end.", number);
    return out;
}

/* Events of session `number` that had no room, and those that newer ones took the place of. */
static void tell_session(const struct lines *l, uint32_t number)
{
    const struct cairn_log *log = l->log;
    char prefix[24], who[24] = "";
    uint64_t switches[3] = {0};
    prefix_of(prefix, number);
    if (number > 1)
        snprintf(who, sizeof(who), "session %" PRIu32 ": ", number);
    const uint64_t tried = end_number(log, prefix, "events_tried"), lost = end_number(log, prefix, "events_lost");
    const uint64_t over = end_number(log, prefix, "overwritten.events");
    add_switches(log, prefix, switches);
    /* GROUPS:CLOCK:MODE:KIB[:BUFFERS] has sizes of its own */
    const struct cairn_slice option = cairn_key(&log->text, "option.session.%" PRIu32, number);
    unsigned colons = 0;
    for (uint32_t i = 0; i < option.size; i++)
        colons += option.at[i] == ':';
    const char *more =
        colons > 2 ? "use more or larger buffers (session.N=), or fewer switches (switches=)"
                   : "use more or larger buffers (trace.buffers=, trace.buffer_kib=), or fewer switches (switches=)";
    if (lost)
        say(l, more,
            "%s%" PRIu64 " of %" PRIu64 " events (%.2f %%), with %" PRIu64 " of %" PRIu64 " records of "
            "switches, had no room in the trace buffers",
            who, lost, tried, cairn_percent(lost, tried), switches[2], switches[0]);
    if (over)
        say(l, more,
            "%s%" PRIu64 " of %" PRIu64 " events (%.2f %%) were overwritten by newer ones, as circular "
            "sessions do",
            who, over, tried, cairn_percent(over, tried));
}

/* ---- Debug Store ------------------------------------------------------------------------------------------------- */

/* "40 of 120 PEBS records (33.33 %)", of those that are there and the lost ones. */
static void show_part(char out[CAIRN_SHOWN], struct cairn_lost lost, uint64_t there, const char *what)
{
    char least[48] = "";
    if (lost.counted)
        snprintf(least, sizeof(least), " (at least %" PRIu64 ")", lost.counted);
    if (lost.unknown)
        snprintf(out, CAIRN_SHOWN, "an unknown number of %s%s, in addition to %" PRIu64 " recorded,", what, least,
                 there);
    else
        snprintf(out, CAIRN_SHOWN, "%" PRIu64 " of %" PRIu64 " %s (%.2f %%)", lost.counted, lost.counted + there, what,
                 cairn_percent(lost.counted, lost.counted + there));
}

static void tell_records(const struct lines *l)
{
    const struct cairn_log *log = l->log;
    struct cairn_lost pebs = cairn_records_dropped_in_run(log), bts = {0};
    struct cairn_lost swallowed = cairn_samples_swallowed(log);
    uint64_t records = 0, branches = 0;
    char part[CAIRN_SHOWN];
    for (uint32_t c = 0; c < log->cpus; c++) {
        const struct cairn_cpu *cpu = &log->cpu[c];
        const struct cairn_cpu_end *e = &cpu->end;
        records += e->ds_known ? e->ds[0] : cpu->pebs.records;
        branches += e->bts_known ? e->bts[0] : cpu->bts.records;
        add(&bts, told(e->bts_known, e->bts_lost_known, e->bts[2], cpu->bts.lost));
    }
    if (pebs.counted || pebs.unknown) {
        show_part(part, pebs, records, "PEBS records");
        if (cairn_log_grabbed(log))
            say(l, "use a longer period", "%s found their buffer full, or may have found it full", part);
        else
            say(l, "leave more room above pebs.threshold= (pebs.records=)", "%s found their buffer full", part);
    }
    if (swallowed.counted || swallowed.unknown)
        say(l, "use a single event in pebs=",
            "PEBS samples lost (%s) because the record of another counter reloaded theirs",
            cairn_show_lost(part, swallowed));
    if (bts.counted || bts.unknown) {
        bool circular = cairn_slice_is(cairn_key(&log->text, "ds.bts"), "circular");
        show_part(part, bts, branches, "branch records");
        if (cairn_log_grabbed(log))
            say(l, "Linux sets the size of that buffer", "%s found their buffer full, or may have found it full", part);
        else
            say(l,
                circular ? "bts.records= keeps more of them, bts=interrupt keeps all"
                         : "use a larger buffer (bts.records=)",
                "%s %s", part,
                circular ? "were overwritten by newer ones, as bts=circular does" : "found their buffer full");
    }
}

/* ---- what is not in this log, whyever ---------------------------------------------------------------------------- */

bool cairn_switches_told(const struct cairn_log *log, bool compact, uint64_t *there, uint64_t *tried)
{
    bool told = log->has_end;
    *there = *tried = 0;
    for (uint32_t c = 0; c < log->cpus; c++) {
        const struct cairn_cpu *cpu = &log->cpu[c];
        if (!cairn_filter_cpu(c))
            continue;
        told &= compact ? cpu->end.compact_known : cpu->end.full_known;
        *tried += compact ? cpu->end.compact[CAIRN_TRIED] : cpu->end.full[CAIRN_TRIED];
        *there += compact ? cpu->switches.compact : cpu->switches.full;
    }
    return told && *tried >= *there;
}

/* Of the buffers an ETL file has, or should have as its header says: those that are missing or damaged. */
static uint64_t bad_buffers(const struct cairn_etl *etl, uint64_t *all)
{
    const uint64_t there = etl->buffers.count;
    bool *bad = cairn_alloc(there + 1);
    uint64_t count = cairn_etl_missing(etl);
    *all = there + count;
    for (size_t i = 0; i < there; i++)
        bad[i] = etl->buffers.items[i].unread;
    for (size_t i = 0; i < etl->flaws.count; i++)
        if (etl->flaws.items[i].buffer < there)
            bad[etl->flaws.items[i].buffer] = true;
    for (size_t i = 0; i < there; i++)
        count += bad[i];
    free(bad);
    return count;
}

bool cairn_show_missing(char *out, size_t room, const struct cairn_log *log)
{
    const struct cairn_frames *f = &log->frames;
    uint64_t all, bad;
    if (log->etl) {
        bad = bad_buffers(log->etl, &all);
        snprintf(out, room, "%" PRIu64 " of %" PRIu64 " buffers %s missing or damaged in this file", bad, all,
                 cairn_plural(bad, "is", "are"));
        return bad != 0;
    }
    snprintf(out, room, "%" PRIu64 " of %s%" PRIu64 " frames %s missing in this log", f->missing_frames,
             f->total_known ? "" : "at least ", f->total, cairn_plural(f->missing_frames, "is", "are"));
    return f->missing_frames != 0;
}

uint64_t cairn_damaged_frames(const struct cairn_log *log)
{
    return log->etl ? 0 : cairn_frames_damaged(&log->frames) + log->bad_frames + log->bad_pieces;
}

void cairn_print_damage(const struct cairn_log *log, const char *prefix, const char *where)
{
    char missing[CAIRN_SHOWN], text[2 * CAIRN_SHOWN];
    if (!cairn_log_damaged(log))
        return;
    const bool told = cairn_show_missing(missing, sizeof(missing), log);
    snprintf(text, sizeof(text), "%s: %s", told ? missing : "the log has impossible contents",
             told && !log->etl ? where : "cairn check tells where");
    cairn_print_wrapped((unsigned)printf("%sdamaged: ", prefix), prefix, (unsigned)strlen(prefix),
                        (struct cairn_slice){text, (uint32_t)strlen(text)});
}

void cairn_print_missing(const struct cairn_log *log)
{
    const struct cairn_frames *f = &log->frames;
    const uint64_t damaged = cairn_damaged_frames(log);
    uint64_t there, tried;
    for (int compact = 1; compact >= 0; compact--)
        if (cairn_switches_told(log, compact, &there, &tried) && tried > there)
            printf("  missing, %s     %12" PRIu64 "   of %" PRIu64 " %s\n", compact ? "0525H" : "0524H", tried - there,
                   tried, cairn_plural(tried, "switch", "switches"));
    if (log->etl) {
        const uint64_t bad = bad_buffers(log->etl, &tried);
        if (bad)
            printf("  buffers missing    %12" PRIu64 "   of %" PRIu64 ", or damaged (cairn check names them)\n", bad,
                   tried);
        return;
    }
    if (!f->missing_frames && !damaged)
        return;
    printf("  frames missing     %12" PRIu64 "   of %s%" PRIu64 "\n", f->missing_frames,
           f->total_known ? "" : "at least ", f->total);
    printf("  frames damaged     %12" PRIu64 "   %s\n", damaged,
           f->unlisted ? "at most (cairn check names the first)" : "(cairn check names them)");
}

/* Of a serial line that lost or changed bytes, or of a file that was copied in part. Which switches that lost nobody
 * knows where the session lost some, too. */
static void tell_missing(const struct lines *l)
{
    const struct cairn_log *log = l->log;
    uint64_t there, tried;
    char missing[CAIRN_SHOWN], switches[80] = "", prefix[24];
    if (!cairn_show_missing(missing, sizeof(missing), log))
        return;
    prefix_of(prefix, log->number);
    if (cairn_switches_told(log, cairn_prefers_compact(log), &there, &tried) && tried > there &&
        !end_number(log, prefix, "events_lost") && !end_number(log, prefix, "overwritten.events"))
        snprintf(switches, sizeof(switches), "; %" PRIu64 " of %" PRIu64 " %s %s not there", tried - there, tried,
                 cairn_plural(tried, "switch", "switches"), cairn_plural(tried - there, "is", "are"));
    say(l,
        log->etl ? "they were lost when the file was copied; no option keeps more"
                 : "they were lost on the line or when the log was copied; no option keeps more",
        "%s%s", missing, switches);
}

/* An ETL file that is not made of a log of Cairn's. */
static void tell_etl(const struct lines *l)
{
    static const char more[] = "give the logger more or larger buffers";
    const struct cairn_etl *etl = l->log->etl;
    if (!etl || l->log->own)
        return;
    const uint64_t events = etl->header.events_lost, buffers = etl->times.buffers_lost;
    const uint64_t over = cairn_etl_overwritten(etl);
    uint64_t flagged = 0;
    if (events)
        say(l, more, "%" PRIu64 " %s, as the file's header says", events, cairn_plural(events, "event", "events"));
    if (buffers)
        say(l, more, "%" PRIu64 " %s with an unknown number of events, as the file's header says", buffers,
            cairn_plural(buffers, "buffer", "buffers"));
    if (over)
        say(l, "use a larger file",
            "%" PRIu64 " of %" PRIu64 " buffers were overwritten by newer ones, as circular files do", over,
            over + etl->buffers.count);
    if (etl->skipped)
        say(l, "events may be missing there", "sequence numbers leave out %" PRIu64 " %s, %s", etl->skipped,
            cairn_plural(etl->skipped, "buffer", "buffers"),
            etl->skipped_first ? "the first right behind the file's header" : "between others");
    for (size_t i = 0; i < etl->buffers.count; i++)
        flagged += cairn_etl_flags_loss(&etl->buffers.items[i]);
    if (flagged && !events && !buffers)
        say(l, more, "events were lost behind %" PRIu64 " %s, as flags say, which the file's header does not count",
            flagged, cairn_plural(flagged, "buffer", "buffers"));
}

/* What cairn grab could not take out of Linux. */
static void tell_grab(const struct lines *l)
{
    const struct cairn_log *log = l->log;
    uint64_t sum[4] = {0}, v[4], skipped[2], throttled;
    for (uint32_t c = 0; c < log->cpus; c++)
        if (cairn_slice_numbers(cairn_key(&log->text, "end.cpu.%" PRIu32 ".grab", c), v, 4))
            for (unsigned i = 0; i < 4; i++)
                sum[i] += v[i];
    if (sum[0] || sum[1] || sum[2] || sum[3])
        say(l, "use a larger --ring of cairn grab",
            "%" PRIu64 " bytes of PEBS records, %" PRIu64 " bytes of branch records, %" PRIu64 " %s and %" PRIu64
            " %s had no room in the kernel's rings",
            sum[1], sum[3], sum[0], cairn_plural(sum[0], "drain", "drains"), sum[2],
            cairn_plural(sum[2], "switch", "switches"));
    if (cairn_grab_skipped(log, skipped))
        say(l, "record when nothing else uses kprobes or BPF",
            "Linux skipped the hook of drains %" PRIu64 " %s and the hook of switches %" PRIu64 " %s", skipped[0],
            cairn_plural(skipped[0], "time", "times"), skipped[1], cairn_plural(skipped[1], "time", "times"));
    if (cairn_slice_u64(cairn_key(&log->text, "grab.throttled"), &throttled) && throttled)
        say(l,
            "use a longer period, or run 'sysctl kernel.perf_event_max_sample_rate=1000000 "
            "kernel.perf_cpu_time_max_percent=0'",
            "Linux throttled events %" PRIu64 " %s, each time until the next tick, so samples are missing", throttled,
            cairn_plural(throttled, "time", "times"));
}

void cairn_tell_losses(const struct cairn_log *log, cairn_tell *tell, void *to)
{
    const struct lines l = {log, tell, to};
    tell_missing(&l);
    tell_etl(&l);
    if (cairn_log_grabbed(log))
        tell_grab(&l);
    for (uint32_t n = 1; n <= TRACE_MAX_SESSIONS && !cairn_log_grabbed(log); n++)
        tell_session(&l, n);
    tell_records(&l);
}

struct label {
    const char *text;
    unsigned indent;
};

static void print_loss(void *to, const char *text)
{
    const struct label *label = to;
    fputs(label->text, stdout);
    cairn_print_wrapped((unsigned)strlen(label->text), "", label->indent,
                        (struct cairn_slice){text, (uint32_t)strlen(text)});
}

void cairn_print_losses(const struct cairn_log *log, const char *label, unsigned indent)
{
    struct label l = {label, indent};
    cairn_tell_losses(log, print_loss, &l);
}
