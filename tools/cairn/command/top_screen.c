/* SPDX-License-Identifier: MIT */
#include "tools/cairn/command/top_screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/cut.h"
#include "tools/cairn/log/show.h"

#define CPUS   5u  /* that a row has room for */
#define COUNTS 18u /* rows of a screen that has room for states and functions below them */

struct line {
    const char *name;
    uint64_t now, all;
    const struct cairn_total_thread *thread;
};

struct screen {
    FILE *to;
    const struct cairn_top_figures *f, *before;
};

static int by_now(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->now != y->now)
        return x->now > y->now ? -1 : 1;
    if (x->all != y->all)
        return x->all > y->all ? -1 : 1;
    return x->thread ? (x->thread->tid > y->thread->tid) - (x->thread->tid < y->thread->tid) : strcmp(x->name, y->name);
}

/* What is told of later can turn out to be less. */
static uint64_t more(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

static struct line *lines_of(const struct cairn_tally *tally, const struct cairn_tally *before)
{
    struct line *lines = cairn_alloc((tally->rows.count + 1) * sizeof(*lines));
    for (size_t i = 0; i < tally->rows.count; i++) {
        const struct cairn_tally_row *row = tally->rows.items[i], *was = cairn_tally_find(before, row->name);
        const uint64_t all = row->side[0].count;
        lines[i] = (struct line){.name = row->name, .now = more(all, was ? was->side[0].count : 0), .all = all};
    }
    qsort(lines, tally->rows.count, sizeof(*lines), by_now);
    return lines;
}

static void print_threads(const struct screen *s, unsigned rows)
{
    const struct cairn_totals *t = &s->f->totals, *before = &s->before->totals;
    const size_t count = t->threads.count;
    struct line *lines = cairn_alloc((count + 1) * sizeof(*lines));
    uint64_t all = 0, now = 0;
    for (size_t i = 0; i < count; i++) {
        const struct cairn_total_thread *thread = &t->threads.items[i];
        const uint32_t was = cairn_map_find(&before->by_tid, thread->tid);
        lines[i] = (struct line){s->f->names[i], more(thread->busy, was ? before->threads.items[was - 1].busy : 0),
                                 thread->busy, thread};
        all += lines[i].all;
        now += lines[i].now;
    }
    qsort(lines, count, sizeof(*lines), by_now);
    fprintf(s->to, "%-30s %8s %8s %14s %8s\n", "thread, % of busy time", "now", "all", "switched out", "records");
    for (size_t i = 0; i < count && i < rows; i++)
        fprintf(s->to, "%-30s %8.2f %8.2f %14" PRIu64 " %8" PRIu64 "\n", CAIRN_CUT(cairn_slice_of(lines[i].name), 30),
                cairn_percent(lines[i].now, now), cairn_percent(lines[i].all, all), lines[i].thread->runs,
                lines[i].thread->records);
    free(lines);
}

/* Reasons and functions, side by side. */
static void print_counts(const struct screen *s, unsigned rows)
{
    const size_t reason_count = s->f->reasons.rows.count, function_count = s->f->functions.rows.count;
    struct line *reasons = lines_of(&s->f->reasons, &s->before->reasons);
    struct line *functions = lines_of(&s->f->functions, &s->before->functions);
    fprintf(s->to, "%-18s %8s %9s   %-20s %8s %8s\n", "state or reason", "now", "all",
            function_count ? "records in function" : "", function_count ? "now" : "", function_count ? "all" : "");
    for (size_t i = 0; i < rows && (i < reason_count || i < function_count); i++) {
        int used = 0;
        if (i < reason_count)
            used = fprintf(s->to, "%-18s %8" PRIu64 " %9" PRIu64, CAIRN_CUT(cairn_slice_of(reasons[i].name), 18),
                           reasons[i].now, reasons[i].all);
        if (i < function_count)
            fprintf(s->to, "%*s   %-20s %8" PRIu64 " %8" PRIu64, used ? 0 : 37, "",
                    CAIRN_CUT(cairn_slice_of(functions[i].name), 20), functions[i].now, functions[i].all);
        putc('\n', s->to);
    }
    free(reasons);
    free(functions);
}

/* Switches a second of all CPUs together, by the time of them that is known, as cairn diff has it. */
static double rate_in_all(const struct cairn_top_figures *f)
{
    uint64_t known = 0;
    for (uint32_t c = 0; c < f->cpus; c++)
        known += f->totals.busy[c] + f->totals.idle[c];
    return known ? (double)f->switches * f->cpus * (double)f->hz / (double)known : 0.0;
}

/* Each CPU by what it has told of since: they send their buffers when those are full, so one tells much at once,
 * another little. */
static void print_rate_now(char out[static 32], const struct screen *s)
{
    const struct cairn_totals *t = &s->f->totals, *before = &s->before->totals;
    double rate = 0.0;
    bool told = false;
    for (uint32_t c = 0; c < s->f->cpus; c++) {
        const uint64_t known = more(t->busy[c] + t->idle[c], before->busy[c] + before->idle[c]);
        if (known)
            rate += (double)more(t->switches[c], before->switches[c]) * (double)s->f->hz / (double)known;
        told |= known != 0;
    }
    if (!s->before->switches)
        rate = rate_in_all(s->f);
    snprintf(out, 32, told ? "%.1f/s now" : "-", rate);
}

/* Of a CPU whose time nothing has told of yet, or not since the screen before: "-". */
static void print_cpus(const struct screen *s)
{
    const struct cairn_totals *t = &s->f->totals, *before = &s->before->totals;
    fputs("busy now, %:", s->to);
    for (uint32_t c = 0; c < s->f->cpus && c < CPUS; c++) {
        const uint64_t busy = more(t->busy[c], before->busy[c]);
        const uint64_t told = busy + more(t->idle[c], before->idle[c]) + more(t->unknown[c], before->unknown[c]);
        if (told)
            fprintf(s->to, " CPU %" PRIu32 " %5.1f", c, cairn_percent(busy, told));
        else
            fprintf(s->to, " CPU %" PRIu32 "     -", c);
    }
    if (s->f->cpus > CPUS)
        fprintf(s->to, " +%" PRIu32, s->f->cpus - CPUS);
    putc('\n', s->to);
}

/* What is missing, most of all as a share of the time; and how many switches that is, which only the end tells. */
static void print_loss(const struct screen *s)
{
    const struct cairn_top_figures *f = s->f;
    uint64_t told = 0, unknown = 0;
    for (uint32_t c = 0; c < f->cpus; c++) {
        told += f->totals.busy[c] + f->totals.idle[c] + f->totals.unknown[c];
        unknown += f->totals.unknown[c];
    }
    fprintf(s->to, "unknown: %.1f %% of time; %" PRIu64 " %s, %" PRIu64 " %s missing, %" PRIu64 " damaged\nlost: ",
            cairn_percent(unknown, told), f->gaps, cairn_plural(f->gaps, "gap", "gaps"), f->missing,
            cairn_plural(f->missing, "frame", "frames"), f->damaged);
    if (!f->ended)
        fputs("the end of the trace has the number of switches", s->to);
    else if (!f->tried_known)
        fputs("switches unknown: the end summary is missing", s->to);
    else
        fprintf(s->to, "%" PRIu64 " of %" PRIu64 " switches", f->tried - f->switches, f->tried);
    if (f->dropped.unknown)
        fputs("; PEBS records: unknown", s->to);
    else if (f->dropped.counted)
        fprintf(s->to, "; %" PRIu64 " PEBS %s", f->dropped.counted,
                cairn_plural(f->dropped.counted, "record", "records"));
    putc('\n', s->to);
}

void cairn_top_print(FILE *to, const struct cairn_top_figures *f, const struct cairn_top_figures *before,
                     const struct cairn_top_source *source, unsigned rows)
{
    const struct screen s = {to, f, before};
    const bool counts = rows >= COUNTS;
    const unsigned others = CAIRN_TOP_HEAD + (counts ? 2 : 0), free_rows = rows > others + 2 ? rows - others - 1 : 2;
    const unsigned threads = counts ? (free_rows + 1) / 2 : free_rows;
    char span[32] = "", rate[32];
    if (!f->frames) {
        fprintf(to, "%.26s: nothing yet: no frame of a trace in %" PRIu64 " bytes\n", source->name, source->at);
        return;
    }
    snprintf(span, sizeof(span), "%.3f s", floor(f->seconds * 1000.0) / 1000.0); /* as other commands have it */
    print_rate_now(rate, &s);
    fprintf(to, "%.26s: %s, session %" PRIu32 ", %s of trace%s\n", source->name,
            f->ended       ? "ended"
            : source->over ? "broken off"
                           : "coming",
            f->session, span, f->emulated ? ", emulated" : "");
    fprintf(to, "%" PRIu64 " switches, %s, %.1f/s in all; %" PRIu64 " PEBS records\n", f->switches, rate,
            rate_in_all(f), f->totals.records);
    print_cpus(&s);
    print_loss(&s);
    putc('\n', to);
    print_threads(&s, threads);
    if (!counts)
        return;
    putc('\n', to);
    print_counts(&s, free_rows - threads);
}
