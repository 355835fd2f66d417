/* SPDX-License-Identifier: MIT */
/* cairn profile: how often each thread was found in each function, by PEBS records or a profile's samples. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/ds.h"
#include "ds/layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/cut.h"
#include "tools/cairn/base/error.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/command/ds_draw.h"
#include "tools/cairn/command/profile/rows.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/log/etl/samples.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/counters.h"
#include "tools/cairn/model/elf.h"
#include "tools/cairn/model/loss.h"
#include "tools/pebs/pebs.h"

enum per { PER_BOTH, PER_THREAD, PER_FUNCTION, PER_LINE };
static const char *const per_names[] = {"both", "thread", "function", "line", NULL};

#define HOT       20u /* a row of more than one in so many has its colour */
#define NOT_GIVEN UINT64_MAX
static uint64_t only_counter = NOT_GIVEN, top = 40;
static unsigned per = PER_BOTH;
static const char *elf_path, *given_event;
static const char *only_event; /* by the name logs have for it */
static const struct cairn_option options[] = {
    {0, "per", "WHAT", "show a row per thread, function, line (needs --elf), or both: thread and function",
     .word = &per, .words = per_names},
    CAIRN_CPU_OPTION,
    CAIRN_THREAD_OPTION,
    CAIRN_TIME_OPTIONS,
    {0, "counter", "N", "only records of counter N (32: fixed counter 0)", .number = &only_counter, .low = 0,
     .high = 63},
    {0, "event", "NAME", "only records of this event, on any counter", .text = &given_event},
    {0, "top", "N", "show the first N rows (40)", .number = &top, .low = 1, .high = UINT32_MAX},
    {'e', "elf", "FILE", "take function names and source lines from this kernel.elf.full", .text = &elf_path},
    CAIRN_BY_OPTION,
    CAIRN_LOG_OPTIONS,
};

struct profile {
    const struct cairn_log *log;
    struct cairn_elf *elf;
    struct cairn_profile_rows rows;
    struct cairn_samples samples; /* that take the place of PEBS records where there are none */
    struct {
        char **items;
        size_t count, room;
    } names;
    uint64_t records, left_out, doubtful; /* counted; of other threads or counters; without a thread */
    uint64_t after;                       /* of the records: they name the instruction behind theirs */
    uint64_t mixed;                       /* of several counters, nobody knows of which */
    uint64_t counters[CAIRN_CPUS_MOST];   /* that any record counted is of */
};

/* ---- counting --------------------------------------------------------------------------------------------------- */

/*
 * The counters a record is of; 0: of which is not known. From format 3 on it says so. In formats 1 and 2 it has
 * IA32_PERF_GLOBAL_STATUS, all that had overflowed: counters without PEBS write no records, and of several with it
 * nobody can tell.
 */
static uint64_t counters_of(const struct cairn_counters *on, const struct cairn_record *r)
{
    const uint64_t all = DS_BIT(DS_COUNTER_NUMBERS) - 1, pebs = on->known ? on->pebs : all;
    uint64_t bits;
    if (cairn_pebs_get(r->format, r->at, r->size, CAIRN_PEBS_COUNTERS, &bits))
        return bits & all;
    if (!(pebs & (pebs - 1)))
        return pebs; /* there is but one */
    if (!cairn_pebs_get(r->format, r->at, r->size, CAIRN_PEBS_STATUS, &bits))
        return 1; /* format 0: PMC0 alone can do it */
    bits &= pebs;
    return bits & (bits - 1) ? 0 : bits;
}

/* The name an event has in logs, Intel's, by that or by an alias of pebs=; another name stays as it is. */
static const char *name_in_log(const char *name)
{
    static const char *const settings[] = {"", ":ldlat=3", ":frontend=1"}; /* what some events cannot do without */
    for (unsigned i = 0; name && i < sizeof(settings) / sizeof(settings[0]); i++) {
        char spec[128], error[CAIRN_SHOWN];
        struct ds_config config;
        int n = snprintf(spec, sizeof(spec), "%s:1%s", name, settings[i]);
        if ((size_t)n < sizeof(spec) && ds_parse_events(spec, &config, error, sizeof(error)) == 0 && config.events == 1)
            return config.event[0].name;
    }
    return name;
}

/* The counters asked for: on each CPU those that had the event. */
static uint64_t wanted(const struct cairn_counters *on)
{
    uint64_t bits = 0;
    if (!only_event)
        return only_counter == NOT_GIVEN ? UINT64_MAX : DS_BIT(only_counter);
    for (unsigned i = 0; on->known && i < on->count; i++)
        if (cairn_slice_is(on->items[i].event, only_event))
            bits |= DS_BIT(on->items[i].number) & on->pebs;
    return bits;
}

/* ---- counting --------------------------------------------------------------------------------------------------- */

static void count_record(struct profile *p, const struct cairn_counters *on, const struct cairn_item *item)
{
    bool known = item->blame == CAIRN_BLAME_KNOWN, any = wanted(on) == UINT64_MAX;
    uint64_t counters = counters_of(on, item->record);
    p->mixed += !counters;
    if (!any && !(counters & wanted(on))) {
        p->left_out += counters != 0;
        return;
    }
    p->doubtful += !known;
    if (cairn_filter_by_thread() && (!known || !cairn_filter_thread(item->tid))) {
        p->left_out += known;
        return;
    }
    p->records++;
    p->after += item->record->after;
    p->counters[item->cpu] |= counters;
    cairn_profile_rows_add(&p->rows, (struct cairn_profile_row){
                                         .ip = item->record->ip, .tid = known ? item->tid : 0, .blame = item->blame});
}

static void count_sample(struct profile *p, const struct cairn_item *item)
{
    struct cairn_live live;
    struct cairn_sample sample;
    if (only_counter != NOT_GIVEN || !cairn_live_of(item->event, &live) ||
        !cairn_samples_take(&p->samples, item->cpu, &live, &sample))
        return;
    if (cairn_filter_by_thread() && !cairn_filter_thread(sample.tid)) {
        p->left_out++;
        return;
    }
    p->records++;
    cairn_profile_rows_add(
        &p->rows, (struct cairn_profile_row){.ip = sample.ip,
                                             .tid = sample.tid,
                                             .blame = CAIRN_BLAME_KNOWN,
                                             .image = cairn_sample_image(p->log, &sample, item->time, sample.ip)});
}

static void count(struct profile *p)
{
    cairn_samples_read(&p->samples, p->log);
    for (uint32_t c = 0; c < p->log->cpus; c++) {
        struct cairn_lane lane;
        const struct cairn_item *item;
        struct cairn_counters on;
        if (!cairn_filter_cpu(c))
            continue;
        cairn_counters_read(&on, &p->log->text, c);
        cairn_lane_init(&lane, p->log, c, cairn_prefers_compact(p->log), cairn_by);
        while ((item = cairn_lane_next(&lane)) != NULL)
            if (item->kind == CAIRN_ITEM_RECORD && cairn_filter_time(item->time))
                count_record(p, &on, item);
            else if (item->kind == CAIRN_ITEM_EVENT && cairn_filter_time(item->time))
                count_sample(p, item);
        cairn_lane_free(&lane);
    }
}

/* ---- what was asked for ----------------------------------------------------------------------------------------- */

/* The function or line of an address, without what tells addresses in it apart. Where nothing names it, its image. */
static const char *name_of(struct profile *p, const struct cairn_profile_row *r)
{
    char text[CAIRN_SHOWN];
    const char *name = NULL;
    if (r->image)
        return r->image->name[0] ? r->image->name : "[unnamed]";
    if (cairn_samples_any(&p->samples))
        return "[unknown]";
    if (per == PER_LINE)
        name = cairn_elf_line(p->elf, r->ip, text);
    else if (p->elf)
        name = cairn_elf_function(p->elf, r->ip, text);
    if (!name)
        name = cairn_show_address_in(text, p->log, cairn_process_at(p->log, r->tid, 0), 0, r->ip, CAIRN_SHOWN - 1);
    char *copy = cairn_alloc(strlen(name) + 1), *plus;
    memcpy(copy, name, strlen(name));
    if (per != PER_LINE && (plus = strrchr(copy, '+')))
        *plus = '\0';
    *CAIRN_ADD(p->names) = copy;
    return copy;
}

/* Rows of addresses become rows of what was asked for. */
static void fold(struct profile *p)
{
    cairn_profile_rows_merge(&p->rows); /* a name for each address of a thread, once */
    const char *where = NULL;
    uint32_t of = 0; /* the thread it is of */
    for (size_t i = 0; i < p->rows.count; i++) {
        struct cairn_profile_row *r = &p->rows.items[i];
        if (per != PER_THREAD && (!i || r->ip != r[-1].ip || r->image || r->tid != of || !where))
            where = name_of(p, r);
        of = r->tid;
        r->where = where;
        if (per == PER_FUNCTION || per == PER_LINE) {
            r->tid = 0;
            r->blame = CAIRN_BLAME_KNOWN;
        }
    }
    for (size_t i = 0; i < p->rows.count; i++) {
        p->rows.items[i].ip = 0;
        p->rows.items[i].image = NULL;
    }
    cairn_profile_rows_order(&p->rows);
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

/* Each counter that records are of, once, but one that has another event on another CPU. */
static void print_counters(const struct profile *p)
{
    struct {
        struct {
            char text[CAIRN_SHOWN];
        } * items;
        size_t count, room;
    } list = {0};
    char text[CAIRN_SHOWN], *all, *to;
    for (uint32_t i = 0; i < p->log->cpus * DS_COUNTER_NUMBERS; i++) {
        size_t same = 0;
        if (!(p->counters[i / DS_COUNTER_NUMBERS] >> i % DS_COUNTER_NUMBERS & 1))
            continue;
        cairn_show_counter(text, p->log, i / DS_COUNTER_NUMBERS, i % DS_COUNTER_NUMBERS);
        while (same < list.count && strcmp(list.items[same].text, text) != 0)
            same++;
        if (same == list.count)
            memcpy(CAIRN_ADD(list)->text, text, sizeof(text));
    }
    to = all = cairn_alloc((list.count + 1) * CAIRN_SHOWN);
    to += sprintf(to, "records of several counters are added up (--counter N, --event NAME):");
    for (size_t i = 0; i < list.count; i++)
        to += sprintf(to, " %s", list.items[i].text);
    if (list.count > 1)
        cairn_print_wrapped((unsigned)printf("# "), "# ", 2, (struct cairn_slice){all, (uint32_t)(to - all)});
    if (p->mixed)
        printf("# %" PRIu64 " %s of several counters that cannot be separated%s\n", p->mixed,
               cairn_plural(p->mixed, "record is", "records are"),
               only_event || only_counter != NOT_GIVEN ? ": left out" : "");
    free(all);
    free(list.items);
}

static void print_head(const struct profile *p)
{
    const struct cairn_log *log = p->log;
    const char *what = per == PER_LINE ? "line" : cairn_samples_any(&p->samples) ? "image" : "function";
    cairn_print_backend(log, "# Debug Store: backend ", "# ");
    cairn_print_damage(log, "# ", "cairn check tells where");
    for (unsigned i = 0; cairn_has_key(&log->text, "ds.event.%u", i); i++)
        printf("# event %.*s\n", CAIRN_SLICE(cairn_key(&log->text, "ds.event.%u", i)));
    for (unsigned i = 0; cairn_has_key(&log->text, "ds.atom.event.%u", i); i++)
        printf("# event %.*s on efficient cores\n", CAIRN_SLICE(cairn_key(&log->text, "ds.atom.event.%u", i)));
    cairn_print_event_marks(log, "# ");
    cairn_filter_print("# ");
    print_counters(p);
    if (p->after)
        printf("# this record format names the instruction after the sampled one\n");
    printf("#%9s %8s", cairn_samples_any(&p->samples) ? "samples" : "records", "share");
    if (per == PER_BOTH || per == PER_THREAD)
        printf(per == PER_BOTH ? "   %-27s" : "   %s", "thread");
    printf("%s%s\n", per == PER_THREAD ? "" : "   ", per == PER_THREAD ? "" : what);
}

static void print_rows(const struct profile *p)
{
    char thread[CAIRN_SHOWN];
    for (size_t i = 0; i < p->rows.count && i < top; i++) {
        const struct cairn_profile_row *r = &p->rows.items[i];
        int used = printf("%10" PRIu64 " %6.2f %%", r->count, 100.0 * (double)r->count / (double)p->records);
        const char *who =
            r->blame == CAIRN_BLAME_KNOWN ? cairn_show_thread(thread, p->log, r->tid, 27) : cairn_blame_text(r->blame);
        if (per == PER_BOTH) {
            printf("   %-*s", cairn_fill(who, 27), who);
            used += 3 + 27;
        }
        const char *last = per == PER_THREAD ? who : r->where;
        used += printf("   ");
        if (per != PER_THREAD && r->count >= p->records / HOT + 1 && (size_t)used + strlen(last) <= CAIRN_COLUMNS)
            printf("%s%s%s\n", cairn_colour(stdout, CAIRN_COLOUR_PLACE), last, cairn_colour(stdout, CAIRN_COLOUR_OFF));
        else
            cairn_print_wrapped((unsigned)used, "", (unsigned)used, (struct cairn_slice){last, (uint32_t)strlen(last)});
    }
    if (p->rows.count > top)
        printf("# and %zu more %s (--top N)\n", p->rows.count - (size_t)top,
               cairn_plural(p->rows.count - top, "row", "rows"));
}

/* What is not in the rows, or in none for sure. */
static void print_rest(const struct profile *p)
{
    uint64_t missing = 0;
    char lost[CAIRN_SHOWN];
    for (uint32_t c = 0; c < p->log->cpus; c++)
        missing += cairn_filter_cpu(c) ? cairn_drains_passed(p->log, c).missing_bytes : 0;
    printf("# %" PRIu64 " %s", p->records,
           cairn_samples_any(&p->samples) ? cairn_samples_name(p->samples.kind, p->records)
                                          : cairn_plural(p->records, "record", "records"));
    if (p->left_out)
        printf(", %" PRIu64 " %s left out", p->left_out, cairn_plural(p->left_out, "other", "others"));
    if (cairn_samples_any(&p->samples)) {
        printf("\n");
        return;
    }
    printf("; %" PRIu64 " whose thread is uncertain", p->doubtful);
    if (p->doubtful && cairn_filter_by_thread())
        printf(", not counted here");
    const struct cairn_lost swallowed = cairn_samples_swallowed(p->log);
    const struct cairn_lost here = cairn_records_dropped(p->log), run = cairn_records_dropped_in_run(p->log);
    printf("\n# lost by the processor: %s\n", cairn_show_lost(lost, here));
    if (run.counted != here.counted || run.unknown != here.unknown)
        printf("# lost in the whole run, including drains not in this log: %s\n", cairn_show_lost(lost, run));
    if (swallowed.counted || swallowed.unknown)
        printf("# swallowed: %s\n", cairn_show_lost(lost, swallowed));
    if (missing)
        printf("# missing in this log: %" PRIu64 " bytes of records\n", missing);
    if ((per == PER_BOTH || per == PER_FUNCTION) && !p->elf && !p->log->text.symbols.count)
        printf("# this log has no names of functions; give them with --elf kernel.elf.full\n");
}

/* Why there is no row. */
static int none(const struct profile *p)
{
    bool off = cairn_slice_is(cairn_key(&p->log->text, "ds.backend"), "off"), any = false;
    for (uint32_t c = 0; c < p->log->cpus; c++)
        any |= p->log->cpu[c].pebs.records != 0;
    if (p->mixed)
        cairn_error("%" PRIu64 " %s of several counters that cannot be separated; leave out --counter and --event",
                    p->mixed, cairn_plural(p->mixed, "PEBS record is", "PEBS records are"));
    else if (any)
        cairn_error("no PEBS records match the given CPU, thread, time, counter or event");
    else if (cairn_samples_any(&p->samples))
        cairn_error("no %s match the given CPU, thread, time or counter", cairn_samples_name(p->samples.kind, 2));
    else
        cairn_error("no PEBS records%s in this log%s", p->log->own ? "" : " and no samples of a profile",
                    off ? " (cairn info says why)" : "");
    return CAIRN_BAD;
}

/* Whether a CPU has the event asked for on a counter that writes records. */
static bool is_recorded(const struct cairn_log *log)
{
    struct cairn_counters on;
    bool any = false;
    for (uint32_t c = 0; c < log->cpus && !any; c++) {
        cairn_counters_read(&on, &log->text, c);
        any = wanted(&on);
    }
    return any;
}

/* Says which events could have been asked for: those that any CPU has on a counter that writes records. */
static int refuse_event(const struct cairn_log *log)
{
    char text[DS_COUNTER_NUMBERS * 48] = "";
    struct cairn_counters on;
    for (unsigned i = 0, n = 0; i < DS_COUNTER_NUMBERS; i++)
        for (uint32_t c = 0; c < log->cpus; c++) {
            cairn_counters_read(&on, &log->text, c);
            if (i >= on.count || !on.known || on.items[i].plain)
                continue;
            n += (unsigned)snprintf(text + n, sizeof(text) - n, "%s%.*s", n ? ", " : "",
                                    on.items[i].event.size < 40 ? (int)on.items[i].event.size : 40,
                                    on.items[i].event.at); /* no kernel's is longer */
            break;
        }
    if (*text)
        return cairn_usage(&cairn_profile_command, "--event %s: no PEBS counter of this log counts it; give one of: %s",
                           given_event, text);
    return cairn_usage(&cairn_profile_command,
                       "--event %s: this log does not name the events of its PEBS counters; leave --event out",
                       given_event);
}

static int show(const struct cairn_log *log)
{
    struct profile p = {.log = log};
    only_event = given_event;
    if (given_event && !is_recorded(log)) /* Linux' name is in the log as it is */
        only_event = name_in_log(given_event);
    if (per == PER_LINE && !elf_path)
        return cairn_usage(&cairn_profile_command,
                           "--per line: the line numbers are in the kernel's file; give it with --elf FILE");
    if (only_event && only_counter != NOT_GIVEN)
        return cairn_usage(&cairn_profile_command, "--event and --counter exclude each other; give only one");
    if (only_event && !is_recorded(log))
        return refuse_event(log);
    int status = elf_path ? cairn_elf_open(&p.elf, elf_path, log) : CAIRN_GOOD;
    if (status)
        return status;
    if (per == PER_LINE && !cairn_elf_has_lines(p.elf)) {
        cairn_elf_close(p.elf);
        return cairn_usage(&cairn_profile_command, "--per line: %s has no line table; give kernel.elf.full", elf_path);
    }
    count(&p);
    status = p.records ? CAIRN_GOOD : none(&p);
    if (p.records) {
        fold(&p);
        print_head(&p);
        print_rows(&p);
        print_rest(&p);
    }
    for (size_t i = 0; i < p.names.count; i++)
        free(p.names.items[i]);
    free(p.names.items);
    free(p.rows.items);
    cairn_samples_free(&p.samples);
    cairn_elf_close(p.elf);
    return status;
}

const struct cairn_command cairn_profile_command = {
    .name = "profile",
    .arguments = "[options] LOG",
    .summary = "count records or samples per thread and function",
    .options = options,
    .notes = "Function names come from the log, or with --elf from that file. A record counts\n"
             "for its own instruction; in record formats 0 and 1 it counts for the next one,\n"
             "unless PEBS_TRAP of the CPU's IA32_PERF_CAPABILITIES is 0. Records whose thread\n"
             "is uncertain have a row of their own and count for no thread. If a log of cairn\n"
             "grab names no function but the mapped file, the whole file is one row; dump and\n"
             "bts show the place in the file. Of a file of Windows, samples are counted by\n"
             "image: the timer's (0F2EH), or if there are none those of counters (0F2FH).\n",
    .examples = {"cairn profile t.log", "cairn profile --per function --top 10 t.log"},
    .show = show,
};
