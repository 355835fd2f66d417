/* SPDX-License-Identifier: MIT */
/* cairn stat: totals. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/cut.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/command/stat.h"
#include "tools/cairn/log/activity.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/loss.h"
#include "tools/cairn/model/tsc_skew.h"

static uint64_t top = 10;
static const struct cairn_option options[] = {
    CAIRN_CPU_OPTION,
    CAIRN_THREAD_OPTION,
    CAIRN_TIME_OPTIONS,
    CAIRN_REASON_OPTION,
    {0, "top", "N", "list the first N threads (10)", .number = &top, .low = 1, .high = UINT32_MAX},
    CAIRN_BY_OPTION,
    CAIRN_LOG_OPTIONS,
};

/* ---- printing --------------------------------------------------------------------------------------------------- */

void cairn_stat_absent_slice(const char *name, struct cairn_slice why)
{
    int used = printf("%-20s %12s   ", name, "none");
    cairn_print_wrapped((unsigned)used, "", (unsigned)used, why);
}

void cairn_stat_absent(const char *name, const char *why)
{
    cairn_stat_absent_slice(name, (struct cairn_slice){why, (uint32_t)strlen(why)});
}

const char *cairn_stat_absent_option(const struct cairn_log *log, const char *option, const char *off, const char *hint)
{
    struct cairn_slice value = cairn_key(&log->text, "option.%s", option);
    if (cairn_log_grabbed(log))
        return "cairn grab does not record it";
    return value.size && !cairn_slice_is(value, off) ? "requested, but not in this log" : hint;
}

static const char *absent_switches(const struct cairn_log *log)
{
    if (!log->own)
        return "none in this file";
    return log->session.known ? "the session wrote none" : "none in the undamaged part of this log";
}

/* Those of the other kinds that a session asks for: who and what was there. */
static void print_told(const struct cairn_totals *t)
{
    uint64_t count[UINT16_MAX + 1] = {0};
    for (uint32_t c = 0; c < t->log->cpus; c++)
        for (size_t i = 0; i < t->log->cpu[c].told.count && cairn_filter_cpu(c); i++)
            count[t->log->cpu[c].told.items[i].hook]++;
    for (uint32_t hook = 0; hook <= UINT16_MAX; hook++)
        if (count[hook])
            printf("    %-22s %6" PRIu64 "   %04" PRIX32 "H\n", CAIRN_CUT(cairn_slice_of(cairn_hook_name(hook)), 22),
                   count[hook], hook);
}

static void print_live(const struct cairn_totals *t)
{
    const struct cairn_log *log = t->log;
    uint64_t count[CAIRN_LIVE_KINDS] = {0};
    for (uint32_t c = 0; c < log->cpus; c++)
        for (unsigned k = 0; k < CAIRN_LIVE_KINDS && cairn_filter_cpu(c); k++)
            count[k] += log->cpu[c].activity.events[k];
    for (unsigned k = 0; k < CAIRN_LIVE_KINDS; k++)
        if (count[k])
            printf("  %-20s %10" PRIu64 "   %04XH\n", cairn_live_name(k), count[k], cairn_live_hook(k));
}

static void print_switches(const struct cairn_totals *t)
{
    const struct cairn_log *log = t->log;
    uint64_t compact = 0, full = 0, batches = 0, compact_bytes = 0, full_bytes = 0, forms[CCSWAP_FULL + 1] = {0};
    uint64_t events = 0, buffers = 0, other = 0, locks = 0, with_items = 0;
    for (uint32_t c = 0; c < log->cpus; c++) {
        const struct cairn_cpu *cpu = &log->cpu[c];
        if (!cairn_filter_cpu(c))
            continue;
        compact += cpu->switches.compact;
        full += cpu->switches.full;
        batches += cpu->switches.batches;
        compact_bytes += cpu->switches.compact_bytes;
        full_bytes += cpu->switches.full_bytes;
        events += cpu->events;
        buffers += cpu->buffers;
        other += cpu->other_events;
        with_items += cpu->with_items;
        locks += cpu->locks.events;
        for (unsigned i = 0; i <= CCSWAP_FULL; i++)
            forms[i] += cpu->switches.forms[i];
    }
    printf("events               %12" PRIu64 "   in %" PRIu64 " %s\n", events, buffers,
           cairn_plural(buffers, "buffer", "buffers"));
    print_live(t);
    if (other)
        printf("  of other kinds     %12" PRIu64 "\n", other);
    print_told(t);
    if (with_items)
        printf("  with PMC items     %12" PRIu64 "\n", with_items);
    if (compact || log->session.compact) {
        printf("switches, compact    %12" PRIu64 "   0525H, in %" PRIu64 " %s\n", compact, batches,
               cairn_plural(batches, "batch", "batches"));
        printf("  bytes a switch     %12.2f   headers and padding included\n",
               compact ? (double)compact_bytes / (double)compact : 0.0);
        for (unsigned i = 0; i <= CCSWAP_FULL; i++)
            printf("  %-10s         %12" PRIu64 "   %5.1f %%, %u bytes each\n", cairn_form_name((uint8_t)i), forms[i],
                   cairn_percent(forms[i], compact), ccswap_record_bytes((uint8_t)i));
    } else {
        cairn_stat_absent("switches, compact", absent_switches(log));
    }
    if (full || log->session.full) {
        printf("switches, full       %12" PRIu64 "   0524H\n", full);
        printf("  bytes a switch     %12.2f\n", full ? (double)full_bytes / (double)full : 0.0);
    } else {
        cairn_stat_absent("switches, full", absent_switches(log));
    }
    if (locks)
        printf("spin locks released  %12" PRIu64 "   0529H (cairn locks)\n", locks);
}

/* The same of what passes a filter that not all of a CPU does: its buffers and batches have more in them. */
static void print_passed(const struct cairn_totals *t)
{
    const struct cairn_total_passed *p = &t->passed;
    uint64_t switches = 0;
    for (unsigned i = 0; i <= CAIRN_FORM_EVENT; i++)
        switches += p->forms[i];
    printf("switches             %12" PRIu64 "   %s\n", switches, t->compact ? "0525H" : "0524H");
    for (unsigned i = 0; i <= CCSWAP_FULL && t->compact; i++)
        printf("  %-10s         %12" PRIu64 "   %5.1f %%\n", cairn_form_name((uint8_t)i), p->forms[i],
               cairn_percent(p->forms[i], switches));
    if (p->locks)
        printf("spin locks released  %12" PRIu64 "   0529H (cairn locks)\n", p->locks);
    printf("other events         %12" PRIu64 "\n", p->events - p->locks);
    for (unsigned k = 0; k < CAIRN_LIVE_KINDS; k++)
        if (p->live[k])
            printf("  %-20s %10" PRIu64 "   %04XH\n", cairn_live_name(k), p->live[k], cairn_live_hook(k));
    for (uint32_t hook = 0; hook <= UINT16_MAX; hook++)
        if (p->hooks[hook])
            printf("  %-22s %8" PRIu64 "   %04" PRIX32 "H\n", CAIRN_CUT(cairn_slice_of(cairn_hook_name(hook)), 22),
                   p->hooks[hook], hook);
}

static void print_flushes(const struct cairn_totals *t)
{
    uint64_t sum[CCSWAP_CLOSE_REASONS] = {0}, all = 0;
    bool known = false;
    for (uint32_t c = 0; c < t->log->cpus; c++)
        for (unsigned i = 0; cairn_filter_cpu(c) && t->log->cpu[c].end.batches_known && i < CCSWAP_CLOSE_REASONS; i++) {
            sum[i] += t->log->cpu[c].end.batches[i];
            all += t->log->cpu[c].end.batches[i];
            known = true;
        }
    printf("\n%sbatches closed, by reason%s\n", cairn_stat_heading(), cairn_stat_plain());
    if (!known)
        printf("  unknown: the end summary is missing\n");
    for (unsigned i = 0; known && i < CCSWAP_CLOSE_REASONS; i++)
        printf("  %-18s %12" PRIu64 "   %5.1f %%\n", cairn_close_name((uint8_t)i), sum[i], cairn_percent(sum[i], all));
}

static void print_loss(const struct cairn_totals *t)
{
    uint64_t tried = 0, lost = 0, switches = 0, overwritten, over[4] = {0};
    bool known = true, switches_known = true;
    printf("\n%sloss%s%s\n", cairn_stat_heading(), cairn_filter_narrow() ? ", of the whole session" : "",
           cairn_stat_plain());
    if (!t->log->own && cairn_slice_u64(cairn_key(&t->log->text, "etl.events_lost"), &lost) &&
        cairn_slice_u64(cairn_key(&t->log->text, "etl.buffers_lost"), &over[0])) {
        printf("  events lost        %s%12" PRIu64 "%s   as the file's header says\n", cairn_stat_bad(lost), lost,
               cairn_stat_plain());
        printf("  buffers lost       %s%12" PRIu64 "%s\n", cairn_stat_bad(over[0]), over[0], cairn_stat_plain());
        return;
    }
    for (uint32_t c = 0; c < t->log->cpus; c++) {
        const struct cairn_cpu_end *e = &t->log->cpu[c].end;
        if (!cairn_filter_cpu(c))
            continue;
        known &= e->events_known;
        switches_known &= e->switches_known;
        tried += e->events[CAIRN_TRIED];
        lost += e->events[CAIRN_LOST];
        switches += e->switches[CAIRN_LOST];
    }
    if (!cairn_filter_by_cpu())
        known = cairn_slice_u64(cairn_end_key(t->log, "events_tried"), &tried) &&
                cairn_slice_u64(cairn_end_key(t->log, "events_lost"), &lost);
    if (!known) {
        printf("  unknown: the end summary is missing\n");
        return;
    }
    printf("  events lost        %s%12" PRIu64 "%s   of %" PRIu64 " tried\n", cairn_stat_bad(lost), lost,
           cairn_stat_plain(), tried);
    if (switches_known)
        printf("  switches lost      %s%12" PRIu64 "%s\n", cairn_stat_bad(switches), switches, cairn_stat_plain());
    else
        printf("  switches lost      %12s   part of the end summary is missing\n", "unknown");
    cairn_slice_u64(cairn_end_key(t->log, "overwritten.buffers"), &over[0]);
    cairn_slice_u64(cairn_end_key(t->log, "overwritten.events"), &over[1]);
    cairn_slice_u64(cairn_end_key(t->log, "overwritten.compact"), &over[2]);
    cairn_slice_u64(cairn_end_key(t->log, "overwritten.full"), &over[3]);
    overwritten = over[2] + over[3];
    if (t->log->session.circular && !cairn_filter_by_cpu())
        printf("  overwritten        %12" PRIu64 "   %s, with %" PRIu64 " %s, %" PRIu64 " %s\n", over[0],
               cairn_plural(over[0], "buffer", "buffers"), over[1], cairn_plural(over[1], "event", "events"),
               overwritten, cairn_plural(overwritten, "switch", "switches"));
}

static void print_cpus(const struct cairn_totals *t)
{
    const bool chosen = cairn_filter_by_thread();
    printf("\n%sCPU      switches       busy%s       idle    unknown%s\n", cairn_stat_heading(),
           chosen ? "     others" : "", cairn_stat_plain());
    for (uint32_t c = 0; c < t->log->cpus; c++) {
        const uint64_t all = t->busy[c] + t->others[c] + t->idle[c] + t->unknown[c];
        if (!cairn_filter_cpu(c))
            continue;
        if (!all) { /* not one switch, and the session's times are missing as well */
            printf("%3" PRIu32 "  %12" PRIu64 "   %6.2f %%%s   %6.2f %%   %6.2f %%\n", c, t->switches[c], 0.0,
                   chosen ? "     0.00 %" : "", 0.0, 100.0);
            continue;
        }
        printf("%3" PRIu32 "  %12" PRIu64 "   %6.2f %%", c, t->switches[c], cairn_percent(t->busy[c], all));
        if (chosen)
            printf("   %6.2f %%", cairn_percent(t->others[c], all));
        printf("   %6.2f %%   %6.2f %%\n", cairn_percent(t->idle[c], all), cairn_percent(t->unknown[c], all));
    }
}

static void print_threads(struct cairn_totals *t)
{
    char name[CAIRN_SHOWN], span[CAIRN_SHOWN];
    uint64_t all = 0;
    cairn_totals_order(t, false);
    for (size_t i = 0; i < t->threads.count; i++)
        all += t->threads.items[i].busy;
    printf("\n%sthreads by time on a CPU     of busy time       time   switched out    records%s\n",
           cairn_stat_heading(), cairn_stat_plain());
    for (size_t i = 0; i < t->threads.count && i < top; i++) {
        const struct cairn_total_thread *h = &t->threads.items[i];
        cairn_show_thread(name, t->log, h->tid, 28);
        printf("  %-*s %8.2f %% %12s %12" PRIu64 " %10" PRIu64 "\n", cairn_fill(name, 28), name,
               cairn_percent(h->busy, all), cairn_show_span(span, t->log, h->busy), h->runs, h->records);
    }
    if (t->threads.count > top)
        printf("  and %zu more (--top N)\n", t->threads.count - top);
}

/* Of all CPUs together: the kernel keeps no others. */
static void print_hook(const struct cairn_totals *t)
{
    const struct cairn_text *x = &t->log->text;
    uint64_t min, median, p99, emulated = 0;
    if (!cairn_slice_u64(cairn_end_key(t->log, "hook.min"), &min) ||
        !cairn_slice_u64(cairn_end_key(t->log, "hook.median"), &median) ||
        !cairn_slice_u64(cairn_key(x, "end.hook.p99"), &p99)) {
        printf("\n%sswitch hook%s\n  unknown: %s\n", cairn_stat_heading(), cairn_stat_plain(),
               cairn_log_grabbed(t->log) ? "cairn grab does not measure it"
               : t->log->has_end         ? "the kernel did not measure it"
                                         : "the end summary is missing");
        return;
    }
    cairn_slice_u64(cairn_end_key(t->log, "hook.emulated"), &emulated);
    printf("\n%sswitch hook, TSC cycles%s%s%s\n  minimum            %12" PRIu64 "\n  median             %12" PRIu64
           "\n  99th percentile    %12" PRIu64 "\n",
           cairn_stat_heading(), emulated ? " (emulated)" : "", !cairn_filter_by_cpu() ? "" : ", all CPUs",
           cairn_stat_plain(), min, median, p99);
}

static void print_truth(const struct cairn_totals *t)
{
    uint64_t records = 0;
    for (uint32_t c = 0; c < t->log->cpus; c++)
        for (size_t i = 0; i < t->log->cpu[c].truth.count && cairn_filter_cpu(c); i++)
            records += t->log->cpu[c].truth.items[i].count;
    if (records)
        printf("truth                %12" PRIu64 "   %s (cairn check compares)\n", records,
               cairn_plural(records, "record", "records"));
    else
        cairn_stat_absent("truth", cairn_stat_absent_option(t->log, "truth", "0", "boot with truth=1"));
}

static bool has_switches(const struct cairn_log *log)
{
    bool any = false;
    for (uint32_t c = 0; c < log->cpus; c++)
        any |= log->cpu[c].switches.compact + log->cpu[c].switches.full != 0;
    return any;
}

static int show(const struct cairn_log *log)
{
    struct cairn_totals *t = cairn_alloc(sizeof(*t));
    const bool narrow = cairn_filter_narrow();
    cairn_totals_read(t, log, cairn_by, true);
    const struct cairn_session *s = &log->session;
    char span[CAIRN_SHOWN] = "unknown";
    cairn_print_bad_end(log, "");
    cairn_print_skew(log, "");
    if (s->start_known && s->stop_known)
        cairn_show_span(span, log, (uint64_t)s->stop - (uint64_t)s->start);
    printf("session              %12s\n", span);
    cairn_filter_print("");
    if (narrow)
        print_passed(t);
    else
        print_switches(t);
    if (log->own && !narrow) { /* Windows tells nothing of these */
        print_truth(t);
        print_flushes(t);
    }
    print_loss(t);
    cairn_print_missing(log);
    if (log->own || has_switches(log)) { /* a session of Windows need not have asked for any */
        print_cpus(t);
        print_threads(t);
    } else {
        cairn_stat_samples(log, (size_t)top);
    }
    if (log->own) {
        cairn_stat_debug_store(t, (size_t)top);
        cairn_stat_attribution(t);
        if (!narrow)
            print_hook(t);
    }
    cairn_totals_free(t);
    free(t);
    return CAIRN_GOOD;
}

const struct cairn_command cairn_stat_command = {
    .name = "stat",
    .arguments = "[options] LOG",
    .summary = "show totals: switches, loss, shares, records",
    .options = options,
    .notes = "Shows the length of the session, the events, the switches by size of their\n"
             "records, what was lost, the time of each CPU and thread, and the PEBS records of\n"
             "each thread. The table 'records by' shows how many records 'time' and 'index'\n"
             "(see --by) assign to a thread, and how many of these are wrong, if the log has\n"
             "the truth (boot with truth=1). Of a file of Windows without switches, the\n"
             "processes are listed by the samples of its profile.\n",
    .examples = {"cairn stat t.log", "cairn stat --from 1s --until 1.5s --top 20 t.log"},
    .show = show,
};
