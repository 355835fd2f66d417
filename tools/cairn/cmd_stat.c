/* SPDX-License-Identifier: MIT */
/* cairn stat: totals. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/bts.h"
#include "tools/cairn/bytes.h"
#include "tools/cairn/command.h"
#include "tools/cairn/drains.h"
#include "tools/cairn/live.h"
#include "tools/cairn/names.h"
#include "tools/cairn/show.h"
#include "tools/cairn/totals.h"

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

static const char *heading(void)
{
    return cairn_colour(stdout, CAIRN_COLOUR_HEAD);
}

static const char *plain(void)
{
    return cairn_colour(stdout, CAIRN_COLOUR_OFF);
}

/* Of a number of lost things. */
static const char *loss(bool any)
{
    return cairn_colour(stdout, any ? CAIRN_COLOUR_BAD : CAIRN_COLOUR_OFF);
}

/* A figure this log has not, and why. */
static void print_absent_slice(const char *name, struct cairn_slice why)
{
    int used = printf("%-20s %12s   ", name, "none");
    cairn_print_wrapped((unsigned)used, "", (unsigned)used, why);
}

static void print_absent(const char *name, const char *why)
{
    print_absent_slice(name, (struct cairn_slice){why, (uint32_t)strlen(why)});
}

static const char *absent_switches(const struct cairn_log *log)
{
    if (!log->own)
        return "none in this file";
    return log->session.known ? "the session wrote none" : "none in what is left of this log";
}

/* Of what an option switches on: its name, the value that switches it off, what to do about it. */
static const char *absent_option(const struct cairn_log *log, const char *option, const char *off, const char *hint)
{
    struct cairn_slice value = cairn_key(&log->text, "option.%s", option);
    return value.size && !cairn_slice_is(value, off) ? "asked for, but not in this log" : hint;
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
            printf("    %-22.22s %6" PRIu64 "   %04" PRIX32 "H\n", cairn_hook_name(hook), count[hook], hook);
}

static void print_live(const struct cairn_totals *t)
{
    const struct cairn_log *log = t->log;
    uint64_t count[CAIRN_LIVE_KINDS] = {0};
    for (uint32_t c = 0; c < log->cpus; c++)
        for (unsigned k = 0; k < CAIRN_LIVE_KINDS && cairn_filter_cpu(c); k++)
            count[k] += log->cpu[c].live_events[k];
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
        compact += cpu->compact;
        full += cpu->full;
        batches += cpu->batches;
        compact_bytes += cpu->compact_bytes;
        full_bytes += cpu->full_bytes;
        events += cpu->events;
        buffers += cpu->buffers;
        other += cpu->other_events;
        with_items += cpu->with_items;
        locks += cpu->lock_events;
        for (unsigned i = 0; i <= CCSWAP_FULL; i++)
            forms[i] += cpu->forms[i];
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
        print_absent("switches, compact", absent_switches(log));
    }
    if (full || log->session.full) {
        printf("switches, full       %12" PRIu64 "   0524H\n", full);
        printf("  bytes a switch     %12.2f\n", full ? (double)full_bytes / (double)full : 0.0);
    } else {
        print_absent("switches, full", absent_switches(log));
    }
    if (locks)
        printf("spin locks let go    %12" PRIu64 "   0529H (cairn locks)\n", locks);
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
        printf("spin locks let go    %12" PRIu64 "   0529H (cairn locks)\n", p->locks);
    printf("other events         %12" PRIu64 "\n", p->events - p->locks);
    for (unsigned k = 0; k < CAIRN_LIVE_KINDS; k++)
        if (p->live[k])
            printf("  %-20s %10" PRIu64 "   %04XH\n", cairn_live_name(k), p->live[k], cairn_live_hook(k));
    for (uint32_t hook = 0; hook <= UINT16_MAX; hook++)
        if (p->hooks[hook])
            printf("  %-22.22s %8" PRIu64 "   %04" PRIX32 "H\n", cairn_hook_name(hook), p->hooks[hook], hook);
}

static void print_flushes(const struct cairn_totals *t)
{
    uint64_t sum[CCSWAP_CLOSE_REASONS] = {0}, all = 0;
    bool known = false;
    for (uint32_t c = 0; c < t->log->cpus; c++)
        for (unsigned i = 0; cairn_filter_cpu(c) && t->log->cpu[c].end.batches_known && i < CCSWAP_CLOSE_REASONS;
             i++) {
            sum[i] += t->log->cpu[c].end.batches[i];
            all += t->log->cpu[c].end.batches[i];
            known = true;
        }
    printf("\n%sbatches closed, by reason, as the kernel counted%s\n", heading(), plain());
    if (!known)
        printf("  unknown: the end summary is missing\n");
    for (unsigned i = 0; known && i < CCSWAP_CLOSE_REASONS; i++)
        printf("  %-18s %12" PRIu64 "   %5.1f %%\n", cairn_close_name((uint8_t)i), sum[i], cairn_percent(sum[i], all));
}

static void print_loss(const struct cairn_totals *t)
{
    uint64_t tried = 0, lost = 0, switches = 0, overwritten, over[4] = {0};
    bool known = true, switches_known = true;
    printf("\n%sloss%s%s\n", heading(), cairn_filter_narrow() ? ", of the whole session" : "", plain());
    if (!t->log->own && cairn_slice_u64(cairn_key(&t->log->text, "etl.events_lost"), &lost) &&
        cairn_slice_u64(cairn_key(&t->log->text, "etl.buffers_lost"), &over[0])) {
        printf("  events lost        %s%12" PRIu64 "%s   as the file's header says\n", loss(lost), lost, plain());
        printf("  buffers lost       %s%12" PRIu64 "%s\n", loss(over[0]), over[0], plain());
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
    printf("  events lost        %s%12" PRIu64 "%s   of %" PRIu64 " tried\n", loss(lost), lost, plain(), tried);
    if (switches_known)
        printf("  switches lost      %s%12" PRIu64 "%s\n", loss(switches), switches, plain());
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
    printf("\n%sCPU      switches       busy%s       idle    unknown%s\n", heading(),
           chosen ? "     others" : "", plain());
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

static int by_busy(const void *a, const void *b)
{
    const struct cairn_total_thread *x = a, *y = b;
    if (x->busy != y->busy)
        return x->busy > y->busy ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int by_records(const void *a, const void *b)
{
    const struct cairn_total_thread *x = a, *y = b;
    if (x->records != y->records)
        return x->records > y->records ? -1 : 1;
    return by_busy(a, b);
}

static void print_threads(struct cairn_totals *t)
{
    char name[CAIRN_SHOWN], span[CAIRN_SHOWN];
    uint64_t all = 0;
    if (t->threads.count)
        qsort(t->threads.items, t->threads.count, sizeof(*t->threads.items), by_busy);
    for (size_t i = 0; i < t->threads.count; i++)
        all += t->threads.items[i].busy;
    printf("\n%sthreads by time on a CPU     of busy time       time   switched out    records%s\n", heading(),
           plain());
    for (size_t i = 0; i < t->threads.count && i < top; i++) {
        const struct cairn_total_thread *h = &t->threads.items[i];
        printf("  %-28s %8.2f %% %12s %12" PRIu64 " %10" PRIu64 "\n", cairn_show_thread(name, t->log, h->tid, 28),
               cairn_percent(h->busy, all), cairn_show_span(span, t->log, h->busy), h->runs, h->records);
    }
    if (t->threads.count > top)
        printf("  and %zu more (--top N)\n", t->threads.count - top);
}

/* One row, a column for each rule that can be applied. */
static void print_rule_row(const char *name, const bool *there, const uint64_t *counts, const uint64_t *of)
{
    int pad = 0;
    printf("%-19s", name);
    for (unsigned i = 0; i < CAIRN_TOTAL_RULES; i++) {
        if (!there[i])
            continue;
        printf("%*s %10" PRIu64, pad, "", counts[i]);
        pad = of ? 0 : 9;
        if (of)
            printf(" %6.2f %%", cairn_percent(counts[i], of[i]));
    }
    putchar('\n');
}

/* The rules side by side, whichever was asked for. */
static void print_attribution(const struct cairn_totals *t)
{
    static const char *const certainties[] = {"  attributed", "  ambiguous", "  unknown"};
    static const char *const names[] = {"time", "index, 0524H", "index, 0525H"};
    bool there[CAIRN_TOTAL_RULES] = {true, t->log->session.full, t->log->session.compact};
    uint64_t told[CAIRN_TOTAL_RULES], wrong[CAIRN_TOTAL_RULES], all[CAIRN_TOTAL_RULES];
    if (!t->records)
        return;
    for (uint32_t c = 0; c < t->log->cpus; c++) { /* the session stream may be missing */
        there[CAIRN_TOTAL_0524] |= t->log->cpu[c].full != 0;
        there[CAIRN_TOTAL_0525] |= t->log->cpu[c].compact != 0;
    }
    printf("\n%s%-19s%s", heading(), "records by", plain());
    for (unsigned i = 0; i < CAIRN_TOTAL_RULES; i++) {
        all[i] = t->records;
        told[i] = t->rules[i].told;
        wrong[i] = t->rules[i].wrong;
        if (there[i])
            printf(" %19s", names[i]);
    }
    putchar('\n');
    for (unsigned certainty = 0; certainty < CAIRN_CERTAINTIES; certainty++) {
        uint64_t sums[CAIRN_TOTAL_RULES] = {0};
        for (unsigned i = 0; i < CAIRN_TOTAL_RULES * CAIRN_BLAMES; i++)
            if (cairn_blame_certainty(i / CAIRN_TOTAL_RULES) == certainty)
                sums[i % CAIRN_TOTAL_RULES] += t->rules[i % CAIRN_TOTAL_RULES].blames[i / CAIRN_TOTAL_RULES];
        print_rule_row(certainties[certainty], there, sums, all);
        for (unsigned b = 0; b < CAIRN_BLAMES; b++) { /* why */
            uint64_t counts[CAIRN_TOTAL_RULES], any = 0;
            for (unsigned i = 0; i < CAIRN_TOTAL_RULES; i++)
                any += there[i] ? counts[i] = t->rules[i].blames[b] : 0;
            char why[CAIRN_SHOWN];
            snprintf(why, sizeof(why), "    %s", cairn_blame_why(b));
            if (any && certainty != CAIRN_ATTRIBUTED && cairn_blame_certainty(b) == certainty)
                print_rule_row(why, there, counts, NULL);
        }
    }
    if (t->log->has_truth && !cairn_log_modelled(t->log)) {
        printf("  wrong                  unknown   only the model's truth tells of its records\n");
    } else if (t->log->has_truth) {
        print_rule_row("  wrong", there, wrong, told);
        print_rule_row("  of, with truth", there, told, NULL);
    } else {
        printf("  wrong                  unknown   no truth in this log: %s\n",
               absent_option(t->log, "truth", "0", "boot with truth=1"));
    }
}

static void print_throttled(const struct cairn_totals *t)
{
    uint64_t throttles = 0, cycles = 0;
    for (uint32_t c = 0; c < t->log->cpus; c++) {
        const struct cairn_drain_sum sum = cairn_drains_passed(t->log, c);
        throttles += cairn_filter_cpu(c) ? sum.throttles : 0;
        cycles += cairn_filter_cpu(c) ? sum.cycles : 0;
    }
    if (throttles && t->log->session.known)
        printf("  throttled          %12" PRIu64 "   %s, %.6f s%s\n", throttles,
               cairn_plural(throttles, "time", "times"), (double)cycles / (double)t->log->session.clock.tsc_hz,
               !cairn_filter_by_cpu() ? " of all CPUs together" : "");
}

/* Events that write no records: counted in all, and how often that came to a period. Older logs do not say. */
static void print_plain(const struct cairn_totals *t)
{
    const struct cairn_text *x = &t->log->text;
    for (unsigned i = 0; cairn_has_key(x, "ds.event.%u", i); i++) {
        const struct cairn_slice event = cairn_key(x, "ds.event.%u", i);
        uint64_t sum[2] = {0}, v;
        bool told = false, whole = true;
        int name = 0;
        while ((size_t)name < event.size && event.at[name] != ':')
            name++;
        for (uint32_t c = 0; c < t->log->cpus; c++) {
            struct cairn_slice s = cairn_key(x, "end.cpu.%" PRIu32 ".plain.%u", c, i);
            if (!cairn_filter_cpu(c) || !cairn_slice_number(&s, &v))
                continue;
            told = true;
            sum[0] += v;
            bool rest = cairn_slice_numbers(s, &v, 1);
            sum[1] += rest ? v : 0;
            whole &= rest;
        }
        if (told && whole)
            printf("  %-28.*s %12" PRIu64 " %-7s in %" PRIu64 " %s, plain\n", name, event.at, sum[1],
                   cairn_plural(sum[1], "event", "events"), sum[0], cairn_plural(sum[0], "overflow", "overflows"));
        else if (told)
            printf("  %-28.*s %12s events  in %" PRIu64 " %s, plain\n", name, event.at, "unknown", sum[0],
                   cairn_plural(sum[0], "overflow", "overflows"));
    }
}

static void print_pebs(struct cairn_totals *t, uint64_t records, uint64_t drains)
{
    const struct cairn_log *log = t->log;
    struct cairn_lost lost = cairn_pebs_dropped(log), swallowed = cairn_pebs_swallowed(log);
    uint64_t drained = 0; /* in the run */
    char name[CAIRN_SHOWN];
    if (!records && !drains) {
        char why[80] = "no PEBS buffer was drained";
        for (uint32_t c = 0; c < log->cpus; c++)
            drained += cairn_filter_cpu(c) && log->cpu[c].end.ds_known ? log->cpu[c].end.ds[0] : 0;
        if (drained)
            snprintf(why, sizeof(why), "the run had %" PRIu64 ": no event here tells of them", drained);
        print_absent("  PEBS records", why);
        return;
    }
    if (cairn_filter_by_thread() || cairn_filter_by_reason()) /* a drain is no thread's */
        printf("  PEBS records       %12" PRIu64 "\n", records);
    else
        printf("  PEBS records       %12" PRIu64 "   in %" PRIu64 " %s\n", records, drains,
               cairn_plural(drains, "drain", "drains"));
    printf("  lost by processor  %s%12s%s%s\n", loss(lost.unknown || lost.counted),
           lost.unknown ? "unknown" : cairn_show_lost(name, lost), plain(), lost.unknown ? "   a buffer was full" : "");
    if (lost.unknown && lost.counted)
        printf("%*" PRIu64 "   at least\n", 33, lost.counted);
    const struct cairn_lost run = cairn_pebs_dropped_in_run(log);
    if (run.counted != lost.counted || run.unknown != lost.unknown)
        printf("  in the whole run   %12s   with drains that are not here\n", cairn_show_lost(name, run));
    if (swallowed.unknown || swallowed.counted)
        printf("  swallowed          %12s   %s\n", cairn_show_lost(name, swallowed),
               swallowed.unknown ? "several counters: one's record may take another's" : "went with another's record");
    print_throttled(t);
    if (t->records)
        printf("  thread known       %12" PRIu64 "   %6.2f %%%s%s\n", t->attributed, cairn_percent(t->attributed, records),
               cairn_by == CAIRN_BY_FORMAT ? "" : ", by ", cairn_by == CAIRN_BY_FORMAT ? "" : cairn_by_names[cairn_by]);
    if (t->threads.count)
        qsort(t->threads.items, t->threads.count, sizeof(*t->threads.items), by_records);
    size_t with = 0; /* threads that have records */
    for (; with < t->threads.count && t->threads.items[with].records; with++)
        if (with < top)
            printf("  %-28s %12" PRIu64 " %-7s %6.2f %%\n",
                   cairn_show_thread(name, log, t->threads.items[with].tid, 28), t->threads.items[with].records,
                   cairn_plural(t->threads.items[with].records, "record", "records"),
                   cairn_percent(t->threads.items[with].records, records));
    if (with > top)
        printf("  and %zu more (--top N)\n", with - top);
}

static void print_branches(const struct cairn_totals *t, uint64_t records, uint64_t drains)
{
    char name[CAIRN_SHOWN];
    struct cairn_lost lost = cairn_bts_lost(t->log);
    struct cairn_slice reason = cairn_key(&t->log->text, "ds.bts.reason");
    if (!records && !drains) {
        if (reason.size)
            print_absent_slice("  branch records", reason);
        else
            print_absent("  branch records",
                         absent_option(t->log, "bts", "off", "boot with bts=circular or bts=interrupt"));
        return;
    }
    printf("  branch records     %12" PRIu64 "   in %" PRIu64 " %s\n", records, drains,
           cairn_plural(drains, "drain", "drains"));
    printf("  lost, overwritten  %s%12s%s\n", loss(lost.unknown || lost.counted), cairn_show_lost(name, lost), plain());
}

/* Of the drains that pass: they are whose branches they hold. */
static void count_branches(const struct cairn_cpu *cpu, uint64_t *branches, uint64_t *drains)
{
    if (!cairn_filter_narrow()) {
        *branches += cpu->bts_records;
        *drains += cpu->bts_drained;
        return;
    }
    for (size_t i = 0; i < cpu->bts_drains.count && !cairn_filter_by_reason(); i++) {
        const struct cairn_bts_drain *d = &cpu->bts_drains.items[i];
        if (!cairn_filter_time(d->time) || !cairn_filter_thread(d->tid))
            continue;
        *branches += d->bytes_seen / CAIRN_BTS_BYTES;
        *drains += d->reason != CAIRN_DS_START;
    }
}

static void print_debug_store(struct cairn_totals *t)
{
    const struct cairn_log *log = t->log;
    uint64_t records = 0, drains = 0, branches = 0, branch_drains = 0, logged = 0;
    struct cairn_slice backend = cairn_key(&log->text, "ds.backend"), reason = cairn_key(&log->text, "ds.reason");
    for (uint32_t c = 0; c < log->cpus; c++) {
        const struct cairn_cpu *cpu = &log->cpu[c];
        if (!cairn_filter_cpu(c))
            continue;
        records += cpu->pebs_records;
        drains += cpu->drains.drains;
        logged += cpu->log_entries;
        count_branches(cpu, &branches, &branch_drains);
    }
    if (cairn_filter_narrow()) {
        records = t->records;
        drains = t->passed.drains;
    }
    printf("\n%sDebug Store%s", heading(), plain());
    cairn_print_wrapped(11 + (unsigned)printf("          %12.*s   ", CAIRN_SLICE(backend)), "", 36, reason);
    print_pebs(t, records, drains);
    if (!cairn_filter_narrow())
        print_plain(t);
    print_branches(t, branches, branch_drains);
    if (cairn_filter_narrow())
        return;
    if (logged)
        printf("  model's own log    %12" PRIu64 "   %s\n", logged, cairn_plural(logged, "entry", "entries"));
    else
        print_absent("  model's own log", cairn_log_modelled(log)
                                              ? absent_option(log, "ds.log", "0", "boot with ds.log=1")
                                              : "a processor keeps none");
}

/* Of all CPUs together: the kernel keeps no others. */
static void print_hook(const struct cairn_totals *t)
{
    const struct cairn_text *x = &t->log->text;
    uint64_t min, median, p99, emulated = 0;
    if (!cairn_slice_u64(cairn_end_key(t->log, "hook.min"), &min) ||
        !cairn_slice_u64(cairn_end_key(t->log, "hook.median"), &median) ||
        !cairn_slice_u64(cairn_key(x, "end.hook.p99"), &p99)) {
        printf("\n%sswitch hook%s\n  unknown: %s\n", heading(), plain(),
               t->log->has_end ? "the kernel has not measured it" : "the end summary is missing");
        return;
    }
    cairn_slice_u64(cairn_end_key(t->log, "hook.emulated"), &emulated);
    printf("\n%sswitch hook, TSC cycles%s%s%s\n  minimum            %12" PRIu64 "\n  median             %12" PRIu64
           "\n  99th percentile    %12" PRIu64 "\n",
           heading(), emulated ? " (emulated)" : "", !cairn_filter_by_cpu() ? "" : ", all CPUs", plain(),
           min, median, p99);
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
        print_absent("truth", absent_option(t->log, "truth", "0", "boot with truth=1"));
}

static int show(const struct cairn_log *log)
{
    struct cairn_totals *t = cairn_alloc(sizeof(*t));
    const bool narrow = cairn_filter_narrow();
    cairn_totals_read(t, log, cairn_by);
    const struct cairn_session *s = &log->session;
    char span[CAIRN_SHOWN] = "unknown";
    cairn_print_bad_end(log, "");
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
    print_cpus(t);
    print_threads(t);
    if (log->own) {
        print_debug_store(t);
        print_attribution(t);
        if (!narrow)
            print_hook(t);
    }
    cairn_totals_free(t);
    free(t);
    return CAIRN_GOOD;
}

/* Which of the branches pass, their drains tell. */
static bool keeps(const struct cairn_log *log)
{
    return cairn_filter_narrow() && cairn_log_has_branches(log);
}

const struct cairn_command cairn_stat_command = {
    .name = "stat",
    .arguments = "[options] LOG",
    .summary = "totals: switches, sizes, loss, shares, records",
    .options = options,
    .notes = "",
    .show = show,
    .passing = true,
    .keeps = keeps,
};
