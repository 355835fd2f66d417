/* SPDX-License-Identifier: MIT */
/* cairn stat: totals. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/cairn/bytes.h"
#include "tools/cairn/command.h"
#include "tools/cairn/map.h"
#include "tools/cairn/names.h"
#include "tools/cairn/show.h"
#include "tools/cairn/timeline.h"

static uint64_t top = 10;
static const struct cairn_option options[] = {
    {0, "top", "N", "list the first N threads (10)", .number = &top, .low = 1, .high = UINT32_MAX},
    CAIRN_BY_OPTION,
    CAIRN_LOG_OPTIONS,
};

struct thread {
    uint32_t tid;
    uint64_t busy, records, runs; /* clock units on a CPU; records it caused; times it was switched out */
};

/* Whose a record is: the stamps of 0524H and those of 0525H are not worth the same. */
enum rule { BY_TIME, BY_SWITCH_STAMPS, BY_BATCH_STAMPS, RULES };

struct stamps { /* of one CPU, and the truth beside them */
    struct cairn_spans switches, batches;
    struct cairn_culprits culprits;
};

struct totals {
    const struct cairn_log *log;
    bool compact; /* the kind of switches counted for shares */
    struct {
        struct thread *items;
        size_t count, room;
    } threads; /* at the positions of `by_tid` until they are sorted to be printed */
    struct cairn_map by_tid;
    uint64_t busy[CAIRN_MAX_CPUS], idle[CAIRN_MAX_CPUS], unknown[CAIRN_MAX_CPUS], switches[CAIRN_MAX_CPUS];
    struct attribution {
        uint64_t blames[CAIRN_BLAMES], told, wrong; /* told: of the attributed, those the truth knows */
    } rules[RULES];
    uint64_t records, attributed; /* attributed: by the rule asked for */
};

static struct thread *thread_of(struct totals *t, uint32_t tid)
{
    uint32_t known = cairn_map_find(&t->by_tid, tid);
    if (known)
        return &t->threads.items[known - 1];
    cairn_map_add(&t->by_tid, tid, (uint32_t)t->threads.count);
    struct thread *added = CAIRN_ADD(t->threads);
    added->tid = tid;
    return added;
}

/* The thread that leaves has run since the switch before: its share. */
static void count_switch(struct totals *t, const struct cairn_item *item, int64_t *last, bool *has_last)
{
    const struct cairn_switch *sw = &item->sw;
    uint32_t cpu = item->cpu;
    t->switches[cpu]++;
    uint64_t span = *has_last ? (uint64_t)sw->time - (uint64_t)*last : 0;
    if (sw->hole != CAIRN_NO_HOLE) {
        t->unknown[cpu] += span;
    } else if (sw->old_tid == 0) {
        t->idle[cpu] += span;
    } else {
        t->busy[cpu] += span;
        thread_of(t, sw->old_tid)->busy += span;
    }
    if (sw->old_tid)
        thread_of(t, sw->old_tid)->runs++;
    *last = sw->time;
    *has_last = true;
}

struct end { /* of a CPU's stream */
    struct cairn_switch last;
    bool has_last;
    uint32_t hole; /* behind it */
};

/* From a CPU's last switch to the end of the session. Who came then is known only where the switch says so and nothing
 * is missing behind it. */
static void count_rest(struct totals *t, uint32_t cpu, const struct end *end, int64_t stop)
{
    const struct cairn_switch *last = end->has_last ? &end->last : NULL;
    int64_t from = last ? last->time : t->log->session.start;
    if ((!last && !t->log->session.start_known) || stop <= from)
        return;
    uint64_t span = (uint64_t)stop - (uint64_t)from;
    const struct cairn_cpu_end *e = &t->log->cpu[cpu].end; /* circular mode has no hole for what was lost last */
    bool whole = end->hole == CAIRN_NO_HOLE && e->events_known && e->events[CAIRN_LOST] == 0 && t->log->has_end &&
                 !t->log->frames.missing.count;
    if (!last || !last->new_known || !whole) {
        t->unknown[cpu] += span;
    } else if (last->new_tid == 0) {
        t->idle[cpu] += span;
    } else {
        t->busy[cpu] += span;
        thread_of(t, last->new_tid)->busy += span;
    }
}

static void count_verdict(struct attribution *a, struct cairn_verdict v, bool told, uint32_t tid)
{
    bool known = v.blame == CAIRN_BLAME_KNOWN;
    a->blames[v.blame]++;
    a->told += known && told;
    a->wrong += known && told && v.tid != tid;
}

static void count_record(struct totals *t, const struct cairn_item *item, const struct stamps *stamps)
{
    const struct cairn_record *r = item->record;
    uint32_t tid = 0;
    bool told = cairn_culprits_find(&stamps->culprits, r->epoch, r->address, &tid);
    count_verdict(&t->rules[BY_TIME], item->by[CAIRN_BY_TIME], told, tid);
    count_verdict(&t->rules[BY_SWITCH_STAMPS], cairn_spans_find(&stamps->switches, r->epoch, r->address), told, tid);
    count_verdict(&t->rules[BY_BATCH_STAMPS], cairn_spans_find(&stamps->batches, r->epoch, r->address), told, tid);
    t->records++;
    t->attributed += item->blame == CAIRN_BLAME_KNOWN;
    if (item->blame == CAIRN_BLAME_KNOWN)
        thread_of(t, item->tid)->records++;
}

static void count(struct totals *t)
{
    struct end ends[CAIRN_MAX_CPUS];
    int64_t stop = t->log->session.stop; /* where that is missing: the last switch of all CPUs */
    bool stop_known = t->log->session.stop_known;
    for (uint32_t c = 0; c < t->log->cpus; c++) {
        struct cairn_lane lane;
        struct cairn_item item;
        int64_t last = t->log->session.start;
        bool has_last = t->log->session.start_known;
        struct stamps stamps;
        cairn_lane_init(&lane, t->log, c, t->compact, cairn_by);
        cairn_spans_read(&stamps.switches, t->log, c, false);
        cairn_spans_read(&stamps.batches, t->log, c, true);
        cairn_culprits_read(&stamps.culprits, t->log, c);
        while (cairn_lane_next(&lane, &item)) {
            if (item.kind == CAIRN_ITEM_SWITCH)
                count_switch(t, &item, &last, &has_last);
            if (item.kind == CAIRN_ITEM_RECORD)
                count_record(t, &item, &stamps);
        }
        cairn_spans_free(&stamps.switches);
        cairn_spans_free(&stamps.batches);
        cairn_culprits_free(&stamps.culprits);
        ends[c].has_last = lane.has_last;
        ends[c].last = lane.last;
        ends[c].hole = lane.cursor.hole;
        cairn_lane_free(&lane);
        if (has_last && (!stop_known || last > stop)) {
            stop = last;
            stop_known = true;
        }
    }
    for (uint32_t c = 0; c < t->log->cpus && stop_known; c++)
        count_rest(t, c, &ends[c], stop);
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static void print_switches(const struct totals *t)
{
    const struct cairn_log *log = t->log;
    uint64_t compact = 0, full = 0, batches = 0, compact_bytes = 0, full_bytes = 0, forms[CCSWAP_FULL + 1] = {0};
    uint64_t events = 0, buffers = 0, other = 0;
    for (uint32_t c = 0; c < log->cpus; c++) {
        const struct cairn_cpu *cpu = &log->cpu[c];
        compact += cpu->compact;
        full += cpu->full;
        batches += cpu->batches;
        compact_bytes += cpu->compact_bytes;
        full_bytes += cpu->full_bytes;
        events += cpu->events;
        buffers += cpu->buffers;
        other += cpu->other_events;
        for (unsigned i = 0; i <= CCSWAP_FULL; i++)
            forms[i] += cpu->forms[i];
    }
    printf("events               %12" PRIu64 "   in %" PRIu64 " buffers\n", events, buffers);
    if (other)
        printf("  not known here     %12" PRIu64 "\n", other);
    if (compact || log->session.compact) {
        printf("switches, compact    %12" PRIu64 "   0525H, in %" PRIu64 " batches\n", compact, batches);
        printf("  bytes a switch     %12.2f   headers and padding included\n",
               compact ? (double)compact_bytes / (double)compact : 0.0);
        for (unsigned i = 0; i <= CCSWAP_FULL; i++)
            printf("  %-10s         %12" PRIu64 "   %5.1f %%, %u bytes each\n", cairn_form_name((uint8_t)i), forms[i],
                   percent(forms[i], compact), ccswap_record_bytes((uint8_t)i));
    }
    if (full || log->session.full) {
        printf("switches, full       %12" PRIu64 "   0524H\n", full);
        printf("  bytes a switch     %12.2f\n", full ? (double)full_bytes / (double)full : 0.0);
    }
}

static void print_flushes(const struct totals *t)
{
    uint64_t sum[CCSWAP_CLOSE_REASONS] = {0}, all = 0;
    bool known = false;
    for (uint32_t c = 0; c < t->log->cpus; c++)
        for (unsigned i = 0; t->log->cpu[c].end.batches_known && i < CCSWAP_CLOSE_REASONS; i++) {
            sum[i] += t->log->cpu[c].end.batches[i];
            all += t->log->cpu[c].end.batches[i];
            known = true;
        }
    printf("\nbatches closed, by reason\n");
    if (!known)
        printf("  unknown: the end summary is missing\n");
    for (unsigned i = 0; known && i < CCSWAP_CLOSE_REASONS; i++)
        printf("  %-18s %12" PRIu64 "   %5.1f %%\n", cairn_close_name((uint8_t)i), sum[i], percent(sum[i], all));
}

static void print_loss(const struct totals *t)
{
    const struct cairn_text *x = &t->log->text;
    uint64_t tried, written, lost, over[4] = {0};
    printf("\nloss\n");
    if (!cairn_slice_u64(cairn_key(x, "end.events_tried"), &tried) ||
        !cairn_slice_u64(cairn_key(x, "end.events_written"), &written) ||
        !cairn_slice_u64(cairn_key(x, "end.events_lost"), &lost)) {
        printf("  unknown: the end summary is missing\n");
        return;
    }
    printf("  events lost        %12" PRIu64 "   of %" PRIu64 " tried\n", lost, tried);
    uint64_t switches = 0, overwritten = 0;
    for (uint32_t c = 0; c < t->log->cpus; c++)
        switches += t->log->cpu[c].end.switches_known ? t->log->cpu[c].end.switches[CAIRN_LOST] : 0;
    printf("  switches lost      %12" PRIu64 "\n", switches);
    cairn_slice_u64(cairn_key(x, "end.overwritten.buffers"), &over[0]);
    cairn_slice_u64(cairn_key(x, "end.overwritten.events"), &over[1]);
    cairn_slice_u64(cairn_key(x, "end.overwritten.compact"), &over[2]);
    cairn_slice_u64(cairn_key(x, "end.overwritten.full"), &over[3]);
    overwritten = over[2] + over[3];
    if (t->log->session.circular)
        printf("  overwritten        %12" PRIu64 "   buffers, with %" PRIu64 " events, %" PRIu64 " switches\n", over[0],
               over[1], overwritten);
}

static void print_cpus(const struct totals *t)
{
    printf("\nCPU      switches       busy       idle    unknown\n");
    for (uint32_t c = 0; c < t->log->cpus; c++) {
        uint64_t all = t->busy[c] + t->idle[c] + t->unknown[c];
        if (!all) { /* not one switch, and the session's times are missing as well */
            printf("%3" PRIu32 "  %12" PRIu64 "   %6.2f %%   %6.2f %%   %6.2f %%\n", c, t->switches[c], 0.0, 0.0,
                   100.0);
            continue;
        }
        printf("%3" PRIu32 "  %12" PRIu64 "   %6.2f %%   %6.2f %%   %6.2f %%\n", c, t->switches[c],
               percent(t->busy[c], all), percent(t->idle[c], all), percent(t->unknown[c], all));
    }
}

static int by_busy(const void *a, const void *b)
{
    const struct thread *x = a, *y = b;
    if (x->busy != y->busy)
        return x->busy > y->busy ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int by_records(const void *a, const void *b)
{
    const struct thread *x = a, *y = b;
    if (x->records != y->records)
        return x->records > y->records ? -1 : 1;
    return by_busy(a, b);
}

static void print_threads(struct totals *t)
{
    char name[CAIRN_SHOWN], span[CAIRN_SHOWN];
    uint64_t all = 0;
    if (t->threads.count)
        qsort(t->threads.items, t->threads.count, sizeof(*t->threads.items), by_busy);
    for (size_t i = 0; i < t->threads.count; i++)
        all += t->threads.items[i].busy;
    printf("\nthreads by time on a CPU     of busy time       time   switched out    records\n");
    for (size_t i = 0; i < t->threads.count && i < top; i++) {
        const struct thread *h = &t->threads.items[i];
        printf("  %-28s %8.2f %% %12s %12" PRIu64 " %10" PRIu64 "\n", cairn_show_thread(name, t->log, h->tid, 28),
               percent(h->busy, all), cairn_show_span(span, h->busy), h->runs, h->records);
    }
    if (t->threads.count > top)
        printf("  and %zu more (--top N)\n", t->threads.count - top);
}

/* One row, a column for each rule that can be applied. */
static void print_rule_row(const char *name, const bool *there, const uint64_t *counts, const uint64_t *of)
{
    int pad = 0;
    printf("%-19s", name);
    for (unsigned i = 0; i < RULES; i++) {
        if (!there[i])
            continue;
        printf("%*s %10" PRIu64, pad, "", counts[i]);
        pad = of ? 0 : 9;
        if (of)
            printf(" %6.2f %%", percent(counts[i], of[i]));
    }
    putchar('\n');
}

/* The rules side by side, whichever was asked for. */
static void print_attribution(const struct totals *t)
{
    static const char *const certainties[] = {"  attributed", "  ambiguous", "  unknown"};
    static const char *const names[] = {"time", "index, 0524H", "index, 0525H"};
    bool there[RULES] = {true, t->log->session.full, t->log->session.compact};
    uint64_t told[RULES], wrong[RULES], all[RULES];
    if (!t->records)
        return;
    for (uint32_t c = 0; c < t->log->cpus; c++) { /* the session stream may be missing */
        there[BY_SWITCH_STAMPS] |= t->log->cpu[c].full != 0;
        there[BY_BATCH_STAMPS] |= t->log->cpu[c].compact != 0;
    }
    printf("\n%-19s", "records by");
    for (unsigned i = 0; i < RULES; i++) {
        all[i] = t->records;
        told[i] = t->rules[i].told;
        wrong[i] = t->rules[i].wrong;
        if (there[i])
            printf(" %19s", names[i]);
    }
    putchar('\n');
    for (unsigned certainty = 0; certainty < CAIRN_CERTAINTIES; certainty++) {
        uint64_t sums[RULES] = {0};
        for (unsigned i = 0; i < RULES * CAIRN_BLAMES; i++)
            if (cairn_blame_certainty(i / RULES) == certainty)
                sums[i % RULES] += t->rules[i % RULES].blames[i / RULES];
        print_rule_row(certainties[certainty], there, sums, all);
        for (unsigned b = 0; b < CAIRN_BLAMES; b++) { /* why */
            uint64_t counts[RULES], any = 0;
            for (unsigned i = 0; i < RULES; i++)
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
    }
}

static void print_pebs(struct totals *t)
{
    const struct cairn_log *log = t->log;
    uint64_t records = 0, drains = 0, throttles = 0, cycles = 0, hz;
    struct cairn_lost lost = cairn_pebs_lost(log, CAIRN_MAX_CPUS);
    char name[CAIRN_SHOWN];
    struct cairn_slice backend = cairn_key(&log->text, "ds.backend"), reason = cairn_key(&log->text, "ds.reason");
    for (uint32_t c = 0; c < log->cpus; c++) {
        const struct cairn_epoch *throttled = NULL; /* since its end */
        records += log->cpu[c].records.count;
        for (size_t i = 0; i < log->cpu[c].epochs.count; i++) {
            const struct cairn_epoch *e = &log->cpu[c].epochs.items[i];
            drains += e->reason != CAIRN_DS_START;
            throttles += e->reason == CAIRN_DS_THROTTLE;
            if (throttled && e->reason != CAIRN_DS_RECONFIGURE) { /* which does not end it */
                cycles += e->tsc - throttled->tsc;
                throttled = NULL;
            }
            if (e->reason == CAIRN_DS_THROTTLE)
                throttled = e;
        }
    }
    int used = printf("\nDebug Store          %12.*s   ", CAIRN_SLICE(backend)) - 1;
    cairn_print_wrapped((unsigned)used, "", 36, reason);
    printf("  PEBS records       %12" PRIu64 "   in %" PRIu64 " drains\n", records, drains);
    printf("  lost by processor  %12s%s\n", lost.unknown ? "unknown" : cairn_show_lost(name, lost),
           lost.unknown ? "   a buffer was full" : "");
    if (lost.unknown && lost.counted)
        printf("%*" PRIu64 "   at least\n", 33, lost.counted);
    if (throttles && cairn_slice_u64(cairn_key(&log->text, "session.1.tsc_hz"), &hz) && hz)
        printf("  throttled          %12" PRIu64 "   times, %.6f s of all CPUs together\n", throttles,
               (double)cycles / (double)hz);
    if (t->records)
        printf("  thread known       %12" PRIu64 "   %6.2f %%%s%s\n", t->attributed, percent(t->attributed, records),
               cairn_by == CAIRN_BY_FORMAT ? "" : ", by ", cairn_by == CAIRN_BY_FORMAT ? "" : cairn_by_names[cairn_by]);
    if (t->threads.count)
        qsort(t->threads.items, t->threads.count, sizeof(*t->threads.items), by_records);
    size_t with = 0; /* threads that have records */
    for (; with < t->threads.count && t->threads.items[with].records; with++)
        if (with < top)
            printf("  %-28s %12" PRIu64 " records %6.2f %%\n",
                   cairn_show_thread(name, log, t->threads.items[with].tid, 28), t->threads.items[with].records,
                   percent(t->threads.items[with].records, records));
    if (with > top)
        printf("  and %zu more (--top N)\n", with - top);
}

static void print_hook(const struct totals *t)
{
    const struct cairn_text *x = &t->log->text;
    uint64_t min, median, p99, emulated = 0;
    if (!cairn_slice_u64(cairn_key(x, "end.hook.min"), &min) ||
        !cairn_slice_u64(cairn_key(x, "end.hook.median"), &median) ||
        !cairn_slice_u64(cairn_key(x, "end.hook.p99"), &p99))
        return;
    cairn_slice_u64(cairn_key(x, "end.hook.emulated"), &emulated);
    printf("\nswitch hook, TSC cycles%s\n  minimum            %12" PRIu64 "\n  median             %12" PRIu64
           "\n  99th percentile    %12" PRIu64 "\n",
           emulated ? " (emulated)" : "", min, median, p99);
}

static int show(const struct cairn_log *log)
{
    struct totals *t = cairn_alloc(sizeof(*t));
    t->log = log;
    t->compact = cairn_prefers_compact(t->log);
    count(t);
    const struct cairn_session *s = &log->session;
    char span[CAIRN_SHOWN];
    cairn_print_bad_end(log, "");
    if (s->start_known && s->stop_known)
        printf("session              %12s\n", cairn_show_span(span, (uint64_t)s->stop - (uint64_t)s->start));
    print_switches(t);
    print_flushes(t);
    print_loss(t);
    print_cpus(t);
    print_threads(t);
    print_pebs(t);
    print_attribution(t);
    print_hook(t);
    free(t->threads.items);
    cairn_map_free(&t->by_tid);
    free(t);
    return CAIRN_GOOD;
}

const struct cairn_command cairn_stat_command = {
    .name = "stat",
    .arguments = "[options] LOG",
    .summary = "totals: switches, sizes, loss, shares, records",
    .options = options,
    .notes = "",
    .show = show,
};
