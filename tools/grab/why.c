/* SPDX-License-Identifier: MIT */
#include "tools/grab/why.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ds/layout.h"
#include "tools/cairn/base/slice.h"
#include "tools/cairn/base/wrap.h"
#include "tools/grab/advice.h"
#include "tools/grab/base/names.h"
#include "tools/pebs/pebs.h"

#define INDENT 13 /* of what is told of an event */

static void print_text(FILE *to, const char *head, const char *text)
{
    fprintf(to, "  %-*s", INDENT - 2, head);
    cairn_wrap(to, INDENT, "", INDENT, cairn_slice_of(text));
}

static void print_counters(FILE *to, uint64_t counters)
{
    const char *between = "";
    fprintf(to, "  %-*s", INDENT - 2, "counter");
    for (unsigned n = 0; n < GRAB_COUNTERS; n++)
        if (counters >> n & 1) {
            fprintf(to, n < DS_COUNTER_FIXED ? "%sPMC%u" : "%sfixed %u", between,
                    n < DS_COUNTER_FIXED ? n : n - DS_COUNTER_FIXED);
            between = ", ";
        }
    fputc('\n', to);
}

static void print_groups(FILE *to, uint64_t groups)
{
    static const struct {
        uint64_t bit;
        const char *name;
    } names[] = {{DS_BIT(CAIRN_PEBS_MEMINFO) | DS_BIT(CAIRN_PEBS_AUX), "memory"},
                 {DS_BIT(CAIRN_PEBS_GPR), "registers"},
                 {DS_BIT(CAIRN_PEBS_XMM), "XMM"},
                 {DS_BIT(CAIRN_PEBS_LBR), "branches (LBR)"},
                 {DS_BIT(CAIRN_PEBS_CNTR), "counters"}};
    fprintf(to, ": basic");
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (groups & names[i].bit)
            fprintf(to, ", %s", names[i].name);
}

static void print_records(FILE *to, const struct grab_use *u, unsigned format)
{
    fprintf(to, "  %-*s%" PRIu64 " of ", INDENT - 2, "records", u->records);
    fprintf(to, u->smallest == u->largest ? "%u bytes" : "%u to %u bytes", u->smallest, u->largest);
    if (format >= 4)
        print_groups(to, u->groups);
    fprintf(to, "\n  %-*s%" PRIu64 ", %" PRIu64 " of them by an interrupt; %.1f records a drain\n", INDENT - 2,
            "drains", u->drains, u->interrupts, (double)u->records / (double)u->drains);
}

static void print_lost(FILE *to, const struct grab_use *u, const struct grab_known *known)
{
    char text[160] = "none";
    if (u->full)
        snprintf(text, sizeof text, "unknown: the buffer was full in %" PRIu64 " of the drains", u->full);
    else if (u->incomplete)
        snprintf(text, sizeof text, "unknown: %" PRIu64 " drains were copied only in part (use a larger --ring)",
                 u->incomplete);
    else if (!known->certain)
        snprintf(text, sizeof text, "unknown: the kernel may have skipped hooks");
    else if (known->throttled)
        snprintf(text, sizeof text, "no record, but samples: Linux may have throttled the event (above)");
    print_text(to, "lost", text);
}

static void print_use(FILE *to, const struct grab_use *u, unsigned format, const struct grab_known *known)
{
    char name[GRAB_NAME] = "an event", pmu[GRAB_NAME], code[GRAB_NAME];
    struct grab_advice advice;
    if (u->known) {
        grab_names_event(name, &u->attr);
        grab_names_core(pmu, &u->attr);
        grab_names_code(code, pmu, u->config, u->attr.config1);
    }
    grab_advise(&advice, u, name);
    fprintf(to, "\n%s\n", name);
    print_text(to, "PEBS", advice.pebs);
    if (u->known)
        print_text(to, "counts", code);
    if (u->known)
        fprintf(to, "  %-*s%" PRIu64 "%s\n", INDENT - 2, u->attr.freq ? "frequency" : "period",
                (uint64_t)u->attr.sample_period, u->attr.freq ? " a second" : "");
    print_counters(to, u->counters);
    if (u->records) {
        print_records(to, u, format);
        print_lost(to, u, known);
    }
    print_text(to, "to change", advice.change);
}

/* Such are those that perf tries for a moment before it begins. */
static bool only_counts(const struct grab_use *u)
{
    return u->known && !u->of_kernel && !u->attr.sample_period;
}

static void print_counted(FILE *to, const struct grab_uses *uses)
{
    static const char head[] = "Counted without samples (by perf stat, or by perf record as a trial): ";
    char name[GRAB_NAME], *text = NULL;
    size_t size = 0;
    FILE *list = open_memstream(&text, &size);
    for (size_t i = 0; i < uses->count; i++) {
        if (!only_counts(&uses->items[i]))
            continue;
        grab_names_event(name, &uses->items[i].attr);
        fprintf(list, "%s%s", ftell(list) ? ", " : "", name);
    }
    fclose(list);
    if (size) {
        fprintf(to, "\n%s", head);
        cairn_wrap(to, sizeof head - 1, "", 2, (struct cairn_slice){text, (uint32_t)size});
    }
    free(text);
}

/* Of a counter whose next event is not known the last one is. */
static void print_untold(FILE *to, uint64_t untold)
{
    char text[240];
    snprintf(text, sizeof text,
             "unknown: a ring was full %" PRIu64
             " %s when an event came to a counter. That event may be missing below, and its records may be shown for "
             "the counter's previous event. Use a larger --ring.",
             untold, cairn_plural(untold, "time", "times"));
    cairn_wrap(to, 0, "", 0, cairn_slice_of(text));
}

static void print_throttled(FILE *to, uint64_t times)
{
    char text[320] = "It is unknown whether Linux throttled events and samples are missing.";
    if (!times)
        return;
    if (times != UINT64_MAX)
        snprintf(text, sizeof text,
                 "Linux throttled events with PEBS %" PRIu64
                 " %s: an event with too many interrupts in a tick is paused until the next tick, and samples are "
                 "missing. Use a longer period, or 'sysctl " GRAB_UNTHROTTLE "'.",
                 times, cairn_plural(times, "time", "times"));
    cairn_wrap(to, 0, "", 0, cairn_slice_of(text));
}

void grab_why(FILE *to, const struct grab_store *store, unsigned format, const struct grab_known *known)
{
    struct grab_uses uses;
    grab_uses_find(&uses, store, format);
    fprintf(to, "PEBS, record format %u: %" PRIu64 " %s, %" PRIu64 " of them by an interrupt\n", format, uses.drains,
            cairn_plural(uses.drains, "drain", "drains"), uses.interrupts);
    if (known->untold)
        print_untold(to, known->untold);
    print_throttled(to, known->throttled);
    for (size_t i = 0; i < uses.count; i++)
        if (!only_counts(&uses.items[i]))
            print_use(to, &uses.items[i], format, known);
    print_counted(to, &uses);
    if (!uses.count)
        fputs("No event was counted.\n", to);
    free(uses.items);
}
