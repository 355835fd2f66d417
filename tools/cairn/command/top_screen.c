/* SPDX-License-Identifier: MIT */
#include "tools/cairn/command/top_screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/log/show.h"

#define COUNTS 18u /* rows of a screen that has room for states and functions below them */

struct line {
    const char *name;
    uint64_t now, all;
};

static int by_now(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->now != y->now)
        return x->now > y->now ? -1 : 1;
    if (x->all != y->all)
        return x->all > y->all ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int threads_by_now(const void *a, const void *b)
{
    const struct cairn_follow_thread *const *x = a, *const *y = b;
    if ((*x)->busy_now != (*y)->busy_now)
        return (*x)->busy_now > (*y)->busy_now ? -1 : 1;
    if ((*x)->busy != (*y)->busy)
        return (*x)->busy > (*y)->busy ? -1 : 1;
    return (*x)->tid < (*y)->tid ? -1 : (*x)->tid > (*y)->tid;
}

static struct line *lines_of(const struct cairn_tally *tally)
{
    struct line *lines = cairn_alloc((tally->rows.count + 1) * sizeof(*lines));
    for (size_t i = 0; i < tally->rows.count; i++) {
        const struct cairn_tally_row *row = tally->rows.items[i];
        lines[i] = (struct line){row->name, row->side[1].count, row->side[0].count};
    }
    qsort(lines, tally->rows.count, sizeof(*lines), by_now);
    return lines;
}

static void print_threads(FILE *to, const struct cairn_follow *f, unsigned rows)
{
    const struct cairn_follow_thread **sorted = cairn_alloc((f->threads.count + 1) * sizeof(*sorted));
    uint64_t all = 0, now = 0;
    for (size_t i = 0; i < f->threads.count; i++) {
        sorted[i] = &f->threads.items[i];
        all += sorted[i]->busy;
        now += sorted[i]->busy_now;
    }
    qsort(sorted, f->threads.count, sizeof(*sorted), threads_by_now);
    fprintf(to, "%-30s %8s %8s %14s %8s\n", "thread, % of busy time", "now", "all", "switched out", "records");
    for (size_t i = 0; i < f->threads.count && i < rows; i++)
        fprintf(to, "%-30.30s %8.2f %8.2f %14" PRIu64 " %8" PRIu64 "\n", sorted[i]->name,
                cairn_percent(sorted[i]->busy_now, now), cairn_percent(sorted[i]->busy, all), sorted[i]->runs,
                sorted[i]->records);
    free(sorted);
}

/* Reasons and functions, side by side. */
static void print_counts(FILE *to, const struct cairn_follow *f, unsigned rows)
{
    struct line *reasons = lines_of(&f->reasons), *functions = lines_of(&f->functions);
    fprintf(to, "%-18s %8s %9s   %-20s %8s %8s\n", "switched out as", "now", "all",
            f->records ? "records in function" : "", f->records ? "now" : "", f->records ? "all" : "");
    for (size_t i = 0; i < rows && (i < f->reasons.rows.count || i < f->functions.rows.count); i++) {
        int used = 0;
        if (i < f->reasons.rows.count)
            used = fprintf(to, "%-18.18s %8" PRIu64 " %9" PRIu64, reasons[i].name, reasons[i].now, reasons[i].all);
        if (i < f->functions.rows.count)
            fprintf(to, "%*s   %-20.20s %8" PRIu64 " %8" PRIu64, used ? 0 : 37, "", functions[i].name, functions[i].now,
                    functions[i].all);
        putc('\n', to);
    }
    free(reasons);
    free(functions);
}

static double seconds(const struct cairn_follow *f)
{
    return f->timed && f->last > f->first ? ((double)f->last - (double)f->first) / (double)f->hz : 0.0;
}

/* Switches a second of all CPUs together, by the time of them that is known, as cairn diff has it. */
static double rate_in_all(const struct cairn_follow *f)
{
    uint64_t known = 0;
    unsigned cpus = 0;
    for (unsigned c = 0; c < MAX_CPUS; c++) {
        cpus += f->cpu[c].there;
        known += f->cpu[c].busy + f->cpu[c].idle;
    }
    return known ? (double)f->switches * cpus * (double)f->hz / (double)known : 0.0;
}

/* Each by what it has told of since: one tells much at once, another little. */
static void print_rate_now(char out[static 32], const struct cairn_follow *f)
{
    double rate = 0.0;
    uint64_t switches = 0;
    bool told = false;
    for (unsigned c = 0; c < MAX_CPUS; c++) {
        const uint64_t known = f->cpu[c].busy_now + f->cpu[c].idle_now;
        if (known)
            rate += (double)f->cpu[c].switches_now * (double)f->hz / (double)known;
        switches += f->cpu[c].switches_now;
        told |= known != 0;
    }
    if (switches == f->switches) /* there was nothing before */
        rate = rate_in_all(f);
    snprintf(out, 32, told ? "%.1f/s now" : "-", rate);
}

/* Of a CPU whose time nothing has told of yet, or not since the screen before: "-". */
static void print_cpus(FILE *to, const struct cairn_follow *f)
{
    unsigned shown = 0, cpus = 0;
    fputs("busy now, %:", to);
    for (unsigned c = 0; c < MAX_CPUS; c++) {
        const struct cairn_follow_cpu *cpu = &f->cpu[c];
        const uint64_t told = cairn_follow_told_now(cpu);
        cpus += cpu->there;
        if (!cpu->there || shown == 5)
            continue;
        shown++;
        if (told)
            fprintf(to, " CPU %u %5.1f", c, cairn_percent(cpu->busy_now, told));
        else
            fprintf(to, " CPU %u     -", c);
    }
    if (cpus > shown)
        fprintf(to, " +%u", cpus - shown);
    putc('\n', to);
}

/* What is missing, most of all as a share of the time; and how many switches that is, which only the end tells. */
static void print_loss(FILE *to, const struct cairn_follow *f)
{
    const uint64_t damaged = f->feed.damaged + f->bad;
    uint64_t told = 0, unknown = 0;
    for (unsigned c = 0; c < MAX_CPUS; c++) {
        told += cairn_follow_told(&f->cpu[c]);
        unknown += f->cpu[c].unknown;
    }
    fprintf(to, "unknown: %.1f %% of time; %" PRIu64 " %s, %" PRIu64 " %s missing, %" PRIu64 " damaged",
            cairn_percent(unknown, told), f->gaps, cairn_plural(f->gaps, "gap", "gaps"), f->missing,
            cairn_plural(f->missing, "frame", "frames"), damaged);
    if (f->misplaced)
        fprintf(to, ", %" PRIu64 " misplaced", f->misplaced);
    fputs("\nlost: ", to);
    if (!f->whole)
        fputs("how many switches, the end of the trace tells", to);
    else if (!f->tried_known || f->tried < f->switches)
        fputs("switches unknown, the end summary is missing", to);
    else
        fprintf(to, "%" PRIu64 " of %" PRIu64 " switches", f->tried - f->switches, f->tried);
    if (f->dropped.unknown)
        fputs("; PEBS records: unknown", to);
    else if (f->dropped.counted)
        fprintf(to, "; %" PRIu64 " PEBS %s", f->dropped.counted, cairn_plural(f->dropped.counted, "record", "records"));
    putc('\n', to);
}

void cairn_top_print(FILE *to, const struct cairn_follow *f, const struct cairn_top_source *source, unsigned rows)
{
    const bool counts = rows >= COUNTS;
    const unsigned others = CAIRN_TOP_HEAD + (counts ? 2 : 0), free_rows = rows > others + 2 ? rows - others - 1 : 2;
    const unsigned threads = counts ? (free_rows + 1) / 2 : free_rows;
    char span[32] = "", rate[32];
    if (!f->frames) {
        fprintf(to, "%.26s: nothing yet: no frame of a trace in %" PRIu64 " bytes\n", source->name, source->at);
        return;
    }
    snprintf(span, sizeof(span), "%.3f s", floor(seconds(f) * 1000.0) / 1000.0); /* as other commands have it */
    print_rate_now(rate, f);
    fprintf(to, "%.26s: %s, session %" PRIu32 ", %s of trace%s\n", source->name,
            f->ended       ? "ended"
            : source->over ? "broken off"
                           : "coming",
            f->session ? f->session : 1, span, f->emulated ? ", emulated" : "");
    fprintf(to, "%" PRIu64 " switches, %s, %.1f/s in all; %" PRIu64 " PEBS records\n", f->switches, rate,
            rate_in_all(f), f->records);
    print_cpus(to, f);
    print_loss(to, f);
    putc('\n', to);
    print_threads(to, f, threads);
    if (!counts)
        return;
    putc('\n', to);
    print_counts(to, f, free_rows - threads);
}
