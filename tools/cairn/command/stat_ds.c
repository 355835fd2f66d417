/* SPDX-License-Identifier: MIT */
/* The rows of `cairn stat` about the Debug Store. */
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/command/stat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/names.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/log/bts.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/model/loss.h"

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

void cairn_stat_attribution(const struct cairn_totals *t)
{
    static const char *const certainties[] = {"  attributed", "  ambiguous", "  unknown"};
    static const char *const names[] = {"time", "index, 0524H", "index, 0525H"};
    bool there[CAIRN_TOTAL_RULES] = {true, t->log->session.full, t->log->session.compact};
    uint64_t told[CAIRN_TOTAL_RULES], wrong[CAIRN_TOTAL_RULES], all[CAIRN_TOTAL_RULES];
    if (!t->records)
        return;
    for (uint32_t c = 0; c < t->log->cpus; c++) { /* the session stream may be missing */
        there[CAIRN_TOTAL_0524] |= t->log->cpu[c].switches.full != 0;
        there[CAIRN_TOTAL_0525] |= t->log->cpu[c].switches.compact != 0;
    }
    printf("\n%s%-19s%s", cairn_stat_heading(), "records by", cairn_stat_plain());
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
        printf("  wrong                  unknown   only the model has truth for its records\n");
    } else if (t->log->has_truth) {
        print_rule_row("  wrong", there, wrong, told);
        print_rule_row("  have truth", there, told, NULL);
    } else {
        char text[96];
        int used = snprintf(text, sizeof text, "this log has no truth: %s",
                            cairn_stat_absent_option(t->log, "truth", "0", "boot with truth=1"));
        printf("  wrong                  unknown   ");
        cairn_print_wrapped(35, "", 35, (struct cairn_slice){text, (uint32_t)used});
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

/* Events that write no records: counted in all, and how often that came to a period. Older logs do not say. `list`:
 * "ds.event", or "ds.atom.event" of efficient cores, of which each CPU has one. */
static void print_plain(const struct cairn_totals *t, const char *list)
{
    const struct cairn_text *x = &t->log->text;
    for (unsigned i = 0; cairn_has_key(x, "%s.%u", list, i); i++) {
        const struct cairn_slice event = cairn_key(x, "%s.%u", list, i);
        uint64_t sum[2] = {0}, v;
        bool told = false, whole = true;
        int name = 0;
        while ((size_t)name < event.size && event.at[name] != ':')
            name++;
        for (uint32_t c = 0; c < t->log->cpus; c++) {
            struct cairn_slice s = cairn_key(x, "end.cpu.%" PRIu32 ".plain.%u", c, i);
            if (!cairn_filter_cpu(c) || cairn_ds_event(x, c, i).at != event.at || !cairn_slice_number(&s, &v))
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

static void print_pebs(struct cairn_totals *t, uint64_t records, uint64_t drains, uint64_t empty, size_t most)
{
    const struct cairn_log *log = t->log;
    struct cairn_lost lost = cairn_records_dropped(log), swallowed = cairn_samples_swallowed(log);
    uint64_t drained = 0; /* in the run */
    char name[CAIRN_SHOWN];
    if (!records && !drains) {
        char why[80] = "no PEBS buffer was drained";
        for (uint32_t c = 0; c < log->cpus; c++)
            drained += cairn_filter_cpu(c) && log->cpu[c].end.ds_known ? log->cpu[c].end.ds[0] : 0;
        if (drained)
            snprintf(why, sizeof(why), "the run had %" PRIu64 ", but no event shows them", drained);
        cairn_stat_absent("  PEBS records", why);
        return;
    }
    if (cairn_filter_by_thread() || cairn_filter_by_reason()) /* a drain is no thread's */
        printf("  PEBS records       %12" PRIu64 "\n", records);
    else if (empty)
        printf("  PEBS records       %12" PRIu64 "   in %" PRIu64 " %s, %" PRIu64 " of them empty\n", records, drains,
               cairn_plural(drains, "drain", "drains"), empty);
    else
        printf("  PEBS records       %12" PRIu64 "   in %" PRIu64 " %s\n", records, drains,
               cairn_plural(drains, "drain", "drains"));
    printf("  lost by processor  %s%12s%s%s\n", cairn_stat_bad(lost.unknown || lost.counted),
           lost.unknown ? "unknown" : cairn_show_lost(name, lost), cairn_stat_plain(),
           lost.unknown ? "   a buffer was full" : "");
    if (lost.unknown && lost.counted)
        printf("%*" PRIu64 "   at least\n", 33, lost.counted);
    const struct cairn_lost run = cairn_records_dropped_in_run(log);
    if (run.counted != lost.counted || run.unknown != lost.unknown)
        printf("  in the whole run   %12s   including drains not in this log\n", cairn_show_lost(name, run));
    if (swallowed.unknown || swallowed.counted)
        printf("  swallowed          %12s   %s\n", cairn_show_lost(name, swallowed),
               swallowed.unknown ? "several counters: a record of one may replace another's"
                                 : "reloaded with another counter's record");
    print_throttled(t);
    if (t->records)
        printf("  thread known       %12" PRIu64 "   %6.2f %%%s%s\n", t->attributed,
               cairn_percent(t->attributed, records), cairn_by == CAIRN_BY_FORMAT ? "" : ", by ",
               cairn_by == CAIRN_BY_FORMAT ? "" : cairn_by_names[cairn_by]);
    cairn_totals_order(t, true);
    size_t with = 0; /* threads that have records */
    for (; with < t->threads.count && t->threads.items[with].records; with++)
        if (with < most)
            printf("  %-28s %12" PRIu64 " %-7s %6.2f %%\n",
                   cairn_show_thread(name, log, t->threads.items[with].tid, 28), t->threads.items[with].records,
                   cairn_plural(t->threads.items[with].records, "record", "records"),
                   cairn_percent(t->threads.items[with].records, records));
    if (with > most)
        printf("  and %zu more (--top N)\n", with - most);
}

static void print_branches(const struct cairn_totals *t, uint64_t records, uint64_t drains)
{
    char name[CAIRN_SHOWN];
    struct cairn_lost lost = cairn_bts_lost(t->log);
    struct cairn_slice reason = cairn_key(&t->log->text, "ds.bts.reason");
    if (!records && !drains) {
        if (reason.size)
            cairn_stat_absent_slice("  branch records", reason);
        else
            cairn_stat_absent("  branch records", cairn_stat_absent_option(t->log, "bts", "off",
                                                                           "boot with bts=circular or bts=interrupt"));
        return;
    }
    printf("  branch records     %12" PRIu64 "   in %" PRIu64 " %s\n", records, drains,
           cairn_plural(drains, "drain", "drains"));
    printf("  lost, overwritten  %s%12s%s\n", cairn_stat_bad(lost.unknown || lost.counted), cairn_show_lost(name, lost),
           cairn_stat_plain());
}

/* Of the drains that pass: they are whose branches they hold. */
static void count_branches(const struct cairn_log *log, uint32_t c, uint64_t *branches, uint64_t *drains)
{
    const struct cairn_cpu *cpu = &log->cpu[c];
    if (!cairn_filter_narrow()) {
        *branches += cpu->bts.records;
        *drains += cpu->bts.drained;
        return;
    }
    if (cairn_filter_by_reason() || !cpu->bts.epochs)
        return;
    struct cairn_bts_group *g = cairn_alloc(sizeof(*g));
    const struct cairn_bts_drain *d;
    cairn_bts_group_init(g, log, c);
    while ((d = cairn_bts_group_next(g)) != NULL) {
        if (!cairn_filter_time(d->time) || !cairn_filter_thread(d->tid))
            continue;
        *branches += d->bytes_seen / CAIRN_BTS_BYTES;
        *drains += d->reason != CAIRN_DS_START;
    }
    cairn_bts_group_free(g);
    free(g);
}

void cairn_stat_debug_store(struct cairn_totals *t, size_t most)
{
    const struct cairn_log *log = t->log;
    uint64_t records = 0, drains = 0, empty = 0, branches = 0, branch_drains = 0, logged = 0;
    struct cairn_slice backend = cairn_key(&log->text, "ds.backend"), reason = cairn_key(&log->text, "ds.reason");
    for (uint32_t c = 0; c < log->cpus; c++) {
        const struct cairn_cpu *cpu = &log->cpu[c];
        if (!cairn_filter_cpu(c))
            continue;
        records += cpu->pebs.records;
        drains += cpu->pebs.drains.drains;
        empty += cpu->pebs.drains.empty;
        logged += cpu->log_entries;
        count_branches(log, c, &branches, &branch_drains);
    }
    if (cairn_filter_narrow()) {
        records = t->records;
        drains = t->passed.drains;
        empty = t->passed.empty;
    }
    printf("\n%sDebug Store%s", cairn_stat_heading(), cairn_stat_plain());
    cairn_print_wrapped(11 + (unsigned)printf("          %12.*s   ", CAIRN_SLICE(backend)), "", 36, reason);
    if (cairn_log_arch(log))
        printf("  %-29s   %s\n", "PEBS", "architectural, record format 15");
    print_pebs(t, records, drains, empty, most);
    if (!cairn_filter_narrow()) {
        print_plain(t, "ds.event");
        print_plain(t, "ds.atom.event");
    }
    print_branches(t, branches, branch_drains);
    if (cairn_filter_narrow())
        return;
    if (logged)
        printf("  model's own log    %12" PRIu64 "   %s\n", logged, cairn_plural(logged, "entry", "entries"));
    else
        cairn_stat_absent("  model's own log", cairn_log_modelled(log)
                                                   ? cairn_stat_absent_option(log, "ds.log", "0", "boot with ds.log=1")
                                                   : "a processor keeps none");
}
