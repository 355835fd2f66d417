/* SPDX-License-Identifier: MIT */
/* cairn info: the machine, the detection, the options, and the contents of the log. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/lib/limits.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/base/number_map.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/command/info_providers.h"
#include "tools/cairn/command/info_report.h"
#include "tools/cairn/command/info_values.h"
#include "tools/cairn/command/next.h"
#include "tools/cairn/log/etl/etl.h"
#include "tools/cairn/log/event_walk.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/loss.h"
#include "tools/cairn/model/tsc_skew.h"

static bool starts_with(struct cairn_slice s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.size >= n && memcmp(s.at, prefix, n) == 0;
}

void cairn_info_value(const struct cairn_log *log, const char *label, const char *key)
{
    struct cairn_slice v = cairn_key(&log->text, "%s", key);
    if (!v.size)
        return;
    printf("%-16s ", label);
    cairn_print_wrapped(17, "", 17, v);
}

static void print_brand(const struct cairn_log *log)
{
    char brand[CAIRN_SHOWN_BRAND];
    if (cairn_show_brand(brand, log, 0))
        printf("%-16s %s\n", "processor", brand);
}

/* Of the CPU that had most: an SMI mostly takes all of them. */
static void print_smis(const struct cairn_log *log)
{
    uint64_t begin, end, most = 0;
    bool known = false;
    for (unsigned i = 0; i < MAX_CPUS; i++)
        if (cairn_slice_u64(cairn_key(&log->text, "cpu.%u.smi", i), &begin) &&
            cairn_slice_u64(cairn_key(&log->text, "end.cpu.%u.smi", i), &end)) {
            const uint64_t n = (uint32_t)(end - begin);
            most = n > most ? n : most;
            known = true;
        }
    if (known)
        printf("%-16s %" PRIu64 " in the run\n", "SMIs", most);
}

static void print_machine(const struct cairn_log *log)
{
    uint64_t bytes, hz;
    cairn_info_value(log, "cairn-report", "cairn-report");
    cairn_info_value(log, "kernel", "kernel.version");
    cairn_info_value(log, "  build ID", "kernel.build_id");
    cairn_info_value(log, "  base", "kernel.base");
    cairn_info_value(log, "loader", "loader.version");
    cairn_info_value(log, "firmware", "firmware.vendor");
    cairn_info_value(log, "  revision", "firmware.revision");
    cairn_info_value(log, "  Secure Boot", "firmware.secure_boot");
    cairn_info_value(log, "  BIOS", "bios.version");
    cairn_info_value(log, "  of", "bios.vendor");
    cairn_info_value(log, "  date", "bios.date");
    cairn_info_value(log, "board", "board.product");
    cairn_info_value(log, "  of", "board.vendor");
    cairn_info_value(log, "  version", "board.version");
    cairn_info_value(log, "booted", "boot.time");
    print_brand(log);
    cairn_info_value(log, "  signature", "cpu.0.signature");
    cairn_info_value(log, "  microcode", "cpu.0.microcode");
    cairn_info_value(log, "CPUs", "machine.cpus");
    cairn_info_value(log, "  left out", "machine.cpus_left_out");
    cairn_info_value(log, "  disabled", "machine.cpus_disabled");
    cairn_info_value(log, "  features", "machine.features");
    cairn_info_value(log, "hypervisor", "machine.hypervisor");
    if (cairn_slice_is(cairn_key(&log->text, "machine.emulated"), "1"))
        printf("%-16s yes: cycles are the emulator's, not a processor's\n", "emulated");
    if (cairn_slice_u64(cairn_key(&log->text, "machine.memory_bytes"), &bytes))
        printf("%-16s %" PRIu64 " MiB\n", "memory", bytes >> 20);
    if (cairn_slice_u64(cairn_key(&log->text, "machine.tsc_hz"), &hz))
        printf("%-16s %" PRIu64 ".%06" PRIu64 " MHz\n", "TSC", hz / 1000000, hz % 1000000);
    cairn_info_value(log, "  measured by", "machine.time_source");
    cairn_print_skew(log, "");
    print_smis(log);
    cairn_info_value(log, "serial port", "machine.serial");
    cairn_info_value(log, "reset by", "machine.reset");
    cairn_info_value(log, "workload", "workload.name");
    cairn_info_value(log, "cairn grab", "grab.version");
}

/* How that of architectural PEBS is known at switches, which cairn grab cannot read. */
static void print_index(const struct cairn_log *log)
{
    char text[160];
    const struct cairn_key key = {.name = cairn_slice_of("grab.index"), .value = cairn_key(&log->text, "grab.index")};
    const struct cairn_slice words = cairn_info_values_text(text, &key);
    if (words.size)
        printf("%-16s at switches: %.*s\n", "  PebsIndex", CAIRN_SLICE(words));
}

static void print_debug_store(const struct cairn_log *log)
{
    printf("\n%sDebug Store%s\n", cairn_colour(stdout, CAIRN_COLOUR_HEAD), cairn_colour(stdout, CAIRN_COLOUR_OFF));
    cairn_info_value(log, "  backend", "ds.backend");
    cairn_info_value(log, "  because", "ds.reason");
    cairn_info_value(log, "  processor", "ds.preset");
    cairn_info_value(log, "  record format", "ds.format");
    if (cairn_log_arch(log))
        printf("%-16s architectural PEBS: %s\n", "", cairn_show_store(log));
    cairn_info_value(log, "  record bytes", "ds.record_bytes");
    print_index(log);
    cairn_info_value(log, "  records", "ds.records");
    cairn_info_value(log, "  threshold", "ds.threshold");
    cairn_info_value(log, "  control area", "ds.area_form");
    cairn_info_value(log, "  branch trace", "ds.bts");
    cairn_info_value(log, "    because", "ds.bts.reason");
    cairn_info_value(log, "    records", "ds.bts.records");
    cairn_info_value(log, "  scope", "ds.scope");
    if (!cairn_slice_is(cairn_key(&log->text, "ds.throttle"), "0"))
        cairn_info_value(log, "  PMIs a tick", "ds.throttle");
    for (unsigned i = 0; cairn_has_key(&log->text, "ds.event.%u", i); i++)
        printf("%-16s %.*s\n", i ? "" : "  events", CAIRN_SLICE(cairn_key(&log->text, "ds.event.%u", i)));
    for (unsigned i = 0; cairn_has_key(&log->text, "ds.atom.event.%u", i); i++)
        printf("%-16s %.*s\n", i ? "" : "    efficient", CAIRN_SLICE(cairn_key(&log->text, "ds.atom.event.%u", i)));
    cairn_print_event_marks(log, "  ");
    cairn_print_other_kinds(log, "  ");
}

/* Takes what is before the next '|' off. */
static struct cairn_slice field(struct cairn_slice *s)
{
    const char *bar = s->size ? memchr(s->at, '|', s->size) : NULL;
    struct cairn_slice f = {s->at, bar ? (uint32_t)(bar - s->at) : s->size};
    uint32_t taken = f.size + (bar ? 1 : 0);
    s->at += taken;
    s->size -= taken;
    return f;
}

/* Row `row` of what was asked of one machine ("hw", "soft") on one CPU. False: there is none. */
static bool detection_row(const struct cairn_log *log, const char *machine, uint32_t cpu, unsigned row,
                          struct cairn_slice fields[4])
{
    struct cairn_slice v = cairn_key(&log->text, "ds.detect.%s.%" PRIu32 ".%u", machine, cpu, row);
    if (!v.size)
        return false;
    for (unsigned i = 0; i < 3; i++)
        fields[i] = field(&v);
    fields[3] = v;
    return true;
}

/* What the model does where no manual says what a processor does: the value, and the question it answers. */
static void print_policies(const struct cairn_log *log)
{
    bool any = false;
    for (size_t i = 0; i < log->text.keys.count; i++) {
        const struct cairn_key *k = &log->text.keys.items[i];
        static const char prefix[] = "ds.policy.";
        if (!starts_with(k->name, prefix))
            continue;
        if (!any)
            printf("\npolicies of the model, where no manual says\n");
        any = true;
        struct cairn_slice name = {k->name.at + sizeof(prefix) - 1, k->name.size - (uint32_t)(sizeof(prefix) - 1)};
        struct cairn_slice question = k->value, value = field(&question);
        int used = printf("  %-14.*s  %-10.*s  ", CAIRN_SLICE(name), CAIRN_SLICE(value));
        cairn_print_wrapped((unsigned)used, "", 30, question);
    }
}

/* The verdict goes behind the columns if it fits there, or if they leave it room for a few words a line. Else it has
 * lines of its own. */
static void print_verdict(int used, struct cairn_slice text)
{
    const int room = (int)CAIRN_COLUMNS - used - 2;
    const bool behind = !cairn_wraps(stdout) || (int)text.size <= room || room >= 32;
    used = behind ? used + printf("  ") : printf("\n%8s", "") - 1;
    cairn_print_wrapped((unsigned)used, "", (unsigned)used, text);
}

/* True where there were any rows. */
static bool print_detection(const struct cairn_log *log, const char *machine, uint32_t cpu)
{
    struct cairn_slice f[4];
    int widths[2] = {4, 5};
    unsigned rows = 0;
    for (; detection_row(log, machine, cpu, rows, f); rows++)
        for (unsigned i = 0; i < 2; i++)
            if ((int)f[i].size > widths[i])
                widths[i] = f[i].size < 40 ? (int)f[i].size : 40;
    if (!rows)
        return false;
    printf("\ndetection, %s, CPU %" PRIu32 "\n  %-*s  %-*s      %s\n", machine, cpu, widths[0], "test", widths[1],
           "value", "verdict");
    for (unsigned row = 0; detection_row(log, machine, cpu, row, f); row++) {
        const int beyond = (int)f[0].size > widths[0] ? (int)f[0].size - widths[0] : 0;
        const int value = beyond < widths[1] ? widths[1] - beyond : 0; /* the verdicts stay below each other */
        print_verdict(printf("  %-*.*s  %-*.*s  %s", widths[0], CAIRN_SLICE(f[0]), value, CAIRN_SLICE(f[1]),
                             cairn_slice_is(f[2], "ok") ? "ok" : "no"),
                      f[3]);
    }
    return true;
}

/* Whether CPU `cpu` found what CPU `other` found: then its table is not repeated. */
static bool same_detection(const struct cairn_log *log, const char *machine, uint32_t cpu, uint32_t other)
{
    for (unsigned row = 0;; row++) {
        struct cairn_slice a = cairn_key(&log->text, "ds.detect.%s.%" PRIu32 ".%u", machine, other, row);
        struct cairn_slice b = cairn_key(&log->text, "ds.detect.%s.%" PRIu32 ".%u", machine, cpu, row);
        if (!cairn_slice_same(a, b))
            return false;
        if (a.size == 0)
            return true;
    }
}

/* The first CPU that found what `cpu` found, perhaps itself. */
static uint32_t first_like(const struct cairn_log *log, const char *machine, uint32_t cpu)
{
    uint32_t first = 0;
    while (first < cpu && !same_detection(log, machine, cpu, first))
        first++;
    return first;
}

/* A table for each kind of CPU. */
static void print_detections(const struct cairn_log *log, const char *machine)
{
    for (uint32_t cpu = 0; cpu < log->cpus; cpu++) {
        uint32_t same = 0;
        if (first_like(log, machine, cpu) != cpu || !print_detection(log, machine, cpu))
            continue;
        for (uint32_t other = cpu + 1; other < log->cpus; other++)
            same += same_detection(log, machine, other, cpu);
        if (same)
            printf("  the same on %" PRIu32 " more %s\n", same, cairn_plural(same, "CPU", "CPUs"));
    }
}

void cairn_info_section(const struct cairn_log *log, const char *title, const char *prefix)
{
    bool any = false;
    char text[160];
    for (size_t i = 0; i < log->text.keys.count; i++) {
        const struct cairn_key *k = &log->text.keys.items[i];
        if (!starts_with(k->name, prefix))
            continue;
        if (!any)
            printf("%s\n", title);
        any = true;
        struct cairn_slice name = {k->name.at + strlen(prefix), k->name.size - (uint32_t)strlen(prefix)};
        int used = printf("  %-24.*s ", CAIRN_SLICE(name));
        cairn_print_wrapped((unsigned)used, "", 27, cairn_info_values_text(text, k));
    }
}

/* When the session that is read began. */
static void print_began(const struct cairn_log *log)
{
    char date[CAIRN_DATE_TEXT], text[CAIRN_SHOWN];
    if (!log->session.start_known || (log->etl && !log->own))
        return;
    if (log->session.wall.known)
        snprintf(text, sizeof(text), "%s%s", cairn_date_text(date, cairn_date_at(log, log->session.start), 0),
                 cairn_clock_source(log));
    else
        snprintf(text, sizeof(text), "unknown: %s", cairn_date_unknown(log));
    cairn_print_wrapped((unsigned)printf("  %-24s ", "began"), "", 27, cairn_slice_of(text));
}

/* The one that was asked for, or all. */
static void print_sessions(const struct cairn_log *log)
{
    bool several = log->sessions & (log->sessions - 1);
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++) {
        char title[16] = "\nsession", prefix[16];
        if (cairn_which_session && number != cairn_which_session)
            continue;
        if (several)
            snprintf(title, sizeof(title), "\nsession %" PRIu32, number);
        snprintf(prefix, sizeof(prefix), "session.%" PRIu32 ".", number);
        cairn_info_section(log, title, prefix);
        if (number == log->number)
            print_began(log);
    }
}

static void print_streams(const struct cairn_log *log)
{
    const struct cairn_frames *f = &log->frames;
    printf("\n%s%-16s %8s %12s%s\n", cairn_colour(stdout, CAIRN_COLOUR_HEAD), "streams", "frames", "bytes",
           cairn_colour(stdout, CAIRN_COLOUR_OFF));
    uint64_t raw = 0, lines = 0;
    for (unsigned i = 0; i < CAIRN_STREAM_COUNT; i++) {
        const char s = CAIRN_STREAMS[i];
        const bool packed = f->store && (s == CAIRN_STREAM_TRACE || s == CAIRN_STREAM_TRUTH);
        const int letter = packed ? s + ('t' - 'T') : s;
        raw += f->of[i].bytes;
        lines += f->of[i].characters;
        printf("  %c %-12s %8" PRIu64 " %12" PRIu64 "\n", letter, cairn_stream_name((uint8_t)s), f->of[i].frames,
               f->of[i].bytes);
    }
    printf("  %-14s %8" PRIu64 " %12" PRIu64 "   %" PRIu64 " characters, overhead %.1f %%\n", "all", f->count, raw,
           lines, raw ? 100.0 * (double)lines / (double)raw - 100.0 : 0.0);
    if (f->store)
        printf("  %-23s %12" PRIu64 "   trace and truth, unpacked\n", "", f->unpacked);
    if (f->total_known)
        printf("  %-14s %8" PRIu64 "\n", "expected", f->total);
    const uint64_t live = cairn_log_sent(log).frames;
    if (live)
        printf("  %-14s %8" PRIu64 " trace frames; the others came at the end\n", "during the run", live);
}

/* ---- events by kind --------------------------------------------------------------------------------------------- */

struct kind {
    uint32_t hook; /* or CAIRN_NO_HOOK: all of that header are one kind */
    uint8_t header, version;
    uint64_t events, bytes;
};

struct kinds {
    struct kind *items;
    size_t count, room;
};

static void count_kind(struct kinds *kinds, struct cairn_map *known, const struct cairn_event *e)
{
    uint32_t hook = e->hook, version = hook == CAIRN_NO_HOOK ? 0 : e->version;
    uint32_t key = (hook & 0xFFFF) | (uint32_t)e->header << 16 | version << 24;
    uint32_t position = cairn_map_find(known, key);
    if (!position) {
        cairn_map_add(known, key, (uint32_t)kinds->count);
        struct kind *k = CAIRN_ADD(*kinds);
        *k = (struct kind){.hook = hook, .header = e->header, .version = (uint8_t)version};
        position = (uint32_t)kinds->count;
    }
    kinds->items[position - 1].events++;
    kinds->items[position - 1].bytes += e->space;
}

static int by_kind(const void *a, const void *b)
{
    const struct kind *x = a, *y = b;
    if (x->hook != y->hook)
        return x->hook < y->hook ? -1 : 1;
    return x->header != y->header ? x->header - y->header : x->version - y->version;
}

static void print_kinds(const struct cairn_log *log)
{
    struct kinds kinds = {0};
    struct cairn_walk walk;
    struct cairn_event e;
    struct cairn_map known = {0};
    for (uint32_t c = 0; c < log->cpus; c++)
        for (cairn_walk_init(&walk, log, c); cairn_walk_next(&walk, &e);)
            count_kind(&kinds, &known, &e);
    if (kinds.count) {
        qsort(kinds.items, kinds.count, sizeof(*kinds.items), by_kind);
        printf("\n%-7s %-10s %7s %10s %12s\n", "events", "header", "version", "count", "bytes");
    }
    for (size_t i = 0; i < kinds.count; i++) {
        const struct kind *k = &kinds.items[i];
        char hook[12] = "-", version[8] = "-";
        if (k->hook != CAIRN_NO_HOOK) {
            snprintf(hook, sizeof(hook), "%04" PRIX32 "H", k->hook);
            snprintf(version, sizeof(version), "%u", k->version);
        }
        printf("  %-5s %-10s %7s %10" PRIu64 " %12" PRIu64 "   %s\n", hook, cairn_header_name(k->header), version,
               k->events, k->bytes, k->hook == CAIRN_NO_HOOK ? "without hook ID" : cairn_hook_name(k->hook));
    }
    free(kinds.items);
    cairn_map_free(&known);
}

static void print_other(const struct cairn_log *log)
{
    static const char *const known[] = {"cairn.",  "dump.",   "kernel.", "loader.", "firmware.", "boot.",    "machine.",
                                        "memory.", "option.", "cpu.",    "ds.",     "workload.", "session.", "end.",
                                        "etl.",    "export.", "probe.",  "grab.",   "bios.",     "board."};
    bool any = false;
    for (size_t i = 0; i < log->text.keys.count; i++) {
        const struct cairn_key *k = &log->text.keys.items[i];
        bool found = false;
        for (unsigned n = 0; n < sizeof(known) / sizeof(known[0]); n++)
            found |= starts_with(k->name, known[n]);
        found |= log->report && cairn_info_report_knows(k->name);
        if (found)
            continue;
        printf("%s", any ? "" : "\nunknown to this version of cairn\n");
        cairn_print_wrapped((unsigned)printf("  %.*s=", CAIRN_SLICE(k->name)), "", 4, k->value);
        any = true;
    }
}

static void print_trace(const struct cairn_log *log)
{
    if (!log->etl)
        print_streams(log);
    print_kinds(log);
    cairn_info_providers(log);
    putchar('\n');
    cairn_info_value(log, "guest's verdict", "end.verdict");
    cairn_info_value(log, "panic", "end.panic");
    cairn_print_losses(log, "lost             ", 17);
}

static bool all, next, lost;
static const struct cairn_option options[] = {
    {0, "next", NULL, "show only the commands that can show something of this log", .on = &next},
    {0, "lost", NULL, "show only what was lost and the options that keep more", .on = &lost},
    {'a', "all", NULL, "also show memory map, CPUID leaves, MSRs, screen modes and the end summary", .on = &all},
    CAIRN_LOG_OPTIONS,
};

static int show(const struct cairn_log *log)
{
    char command[64];
    if (next) {
        for (unsigned i = 0; cairn_next(log, i, command, sizeof(command)); i++)
            puts(command);
        return CAIRN_GOOD;
    }
    if (lost && log->report) {
        cairn_error("%s has no trace, so nothing of a trace is lost", log->report);
        return CAIRN_BAD;
    }
    if (lost) {
        cairn_print_losses(log, "lost     ", 9);
        return CAIRN_GOOD;
    }
    if (log->own) {
        print_machine(log);
        if (log->report)
            cairn_info_report(log);
        print_debug_store(log);
        if (log->report)
            cairn_info_report_store(log);
    } else if (log->etl->cairn) {
        printf("%-16s %s\n\n", "emulated", "unknown: an ETL file does not say");
    }
    cairn_info_section(log, log->own ? "\nETL file" : "ETL file", "etl.");
    cairn_info_section(log, "\nmade by cairn export", "export.");
    print_detections(log, "hw");
    print_detections(log, "soft");
    print_policies(log);
    cairn_info_section(log, "\noptions", "option.");
    print_sessions(log);
    if (all) {
        cairn_info_section(log, "\nmemory map: base, size, type", "memory.");
        cairn_info_section(log, "\nprocessors: CPUID leaves and MSRs", "cpu.");
        cairn_info_section(log, "\nDebug Store of each CPU", "ds.cpu.");
        cairn_info_section(log, "\nrecorded by cairn grab", "grab.");
        cairn_info_section(log, "\nend", "end.");
    }
    if (log->report)
        cairn_info_report_lists(log, all);
    else
        print_trace(log);
    print_other(log);
    return CAIRN_GOOD;
}

const struct cairn_command cairn_info_command = {
    .name = "info",
    .arguments = "[options] LOG",
    .summary = "show machine, detection, options and build IDs",
    .options = options,
    .notes = "Shows the machine, the tests that look for a Debug Store and for architectural\n"
             "PEBS with their results, the kernel options, the trace sessions, and the streams\n"
             "of which the log consists. LOG may also be a report without a trace: the file\n"
             "cairn-machine.txt, or the card at the end of a run as you have typed it or as\n"
             "zbarimg reads its QR code.\n",
    .examples = {"cairn info t.log", "cairn info --lost t.log"},
    .show = show,
    .reports = true,
};
