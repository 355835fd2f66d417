/* SPDX-License-Identifier: MIT */
/* cairn dump: everything in time order. */
#define _DEFAULT_SOURCE /* fwrite_unlocked */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/cut.h"
#include "tools/cairn/base/error.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/base/put.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/log/etl/event_text.h"
#include "tools/cairn/log/locks.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/elf.h"
#include "tools/cairn/model/loss.h"
#include "tools/cairn/model/pmc_items.h"
#include "tools/cairn/model/timeline.h"
#include "tools/cairn/model/tsc_skew.h"

struct dump {
    const struct cairn_log *log;
    struct cairn_pmc_names pmc_names;
    struct cairn_pmcs *pmc_last; /* [CPUs] */
    struct cairn_elf *elf;
    int width; /* of times: TIME_USUAL to TIME_MOST */
    struct columns *columns;
    struct second *second;
};

#define PLACE   64u   /* bytes of time and CPU, and what is before them */
#define COLUMN  72u   /* bytes of a column of a switch's line: 16 characters of 4 bytes; or fewer, and its colour */
#define THREADS 1024u /* kept as text */

struct column {
    char text[COLUMN];
    uint8_t size; /* 0: not known yet */
};

struct columns { /* as they are printed */
    struct thread_columns {
        uint32_t tid;
        bool told;
        struct column left, came;
    } threads[THREADS]; /* by the low bits of their TIDs */
    struct column states[1 + 3 * 256];
};

struct second { /* of the wall clock, the one shown last */
    int64_t number;
    char text[CAIRN_DATE_TEXT], day[2 * CAIRN_DATE_TEXT]; /* the zone behind the day */
};

#define TIME_USUAL 12 /* below 10000 s */
#define TIME_MOST  14 /* what a line has room for: below 1000000 s, digits of later ones are cut */
#define TIME_WALL  16 /* "02:10:59.0123456" */

static int width_of(const struct cairn_log *log)
{
    char stop[CAIRN_SHOWN];
    if (cairn_clock == CAIRN_CLOCK_WALL)
        return TIME_WALL;
    size_t width = log->session.stop_known ? strlen(cairn_show_time(stop, log, log->session.stop)) : 0;
    return width <= TIME_USUAL ? TIME_USUAL : width < TIME_MOST ? (int)width : TIME_MOST;
}

/* What is left to a column of `usual` characters. */
static int room_for(const struct dump *d, int usual)
{
    return usual - (d->width - TIME_USUAL);
}

#define SECOND_TEXT 8 /* "02:10:59" */

/* By the wall clock: a line for each day. `at`: where the time of the day goes. */
static void put_wall(const struct dump *d, char *at, int64_t time)
{
    struct second *s = d->second;
    const int64_t filetime = cairn_date_at(d->log, time), second = filetime / CAIRN_SECOND;
    if (second != s->number) {
        char day[2 * CAIRN_DATE_TEXT], zone[CAIRN_DATE_TEXT];
        cairn_show_date(day, s->text, zone, d->log, time);
        strcat(strcat(day, " "), strcmp(zone, "Z") == 0 ? "UTC" : zone);
        if (strcmp(s->day, day) != 0)
            printf("# %s\n", strcpy(s->day, day));
        s->number = second;
    }
    at = cairn_put(cairn_put(at, s->text, SECOND_TEXT), ".", 1);
    cairn_put_digits(at, (uint32_t)(filetime % CAIRN_SECOND), 7);
}

/* How a line about something at `time` on `cpu` begins: from *from on, within `at`, up to what is returned. */
static char *put_place(const struct dump *d, char at[PLACE], const char **from, int64_t time, uint32_t cpu)
{
    char *const digits = at + TIME_WALL, *end = digits;
    if (cairn_clock == CAIRN_CLOCK_WALL) {
        put_wall(d, digits, time);
        end += TIME_WALL;
    } else {
        memset(at, ' ', TIME_WALL);
        end = cairn_put_seconds(digits, d->log, time);
        end = end - digits > TIME_MOST ? digits + TIME_MOST : end;
    }
    *from = end - digits < d->width ? end - d->width : digits;
    return cairn_put(cairn_put_number(cairn_put(end, " ", 1), cpu, 2), " ", 1);
}

/* The same, printed; characters. */
static int print_place(const struct dump *d, int64_t time, uint32_t cpu)
{
    char text[PLACE];
    const char *from, *end = put_place(d, text, &from, time, cpu);
    return (int)fwrite(from, 1, (size_t)(end - from), stdout);
}

/* What times are, at the head. */
static const char *clock_text(const struct cairn_log *log)
{
    static const char *const zones[] = {"UTC", "your zone", "its zone"};
    static char text[CAIRN_SHOWN];
    if (cairn_clock != CAIRN_CLOCK_WALL)
        return cairn_clock == CAIRN_CLOCK_BOOT ? "seconds since the machine booted"
               : log->etl && !log->own         ? "seconds since its header event"
                                               : NULL;
    snprintf(text, sizeof(text), "times of day in %s%s", zones[cairn_zone], cairn_clock_source(log));
    return text;
}

static void print_head(const struct dump *d, bool compact)
{
    const struct cairn_log *log = d->log;
    cairn_print_backend(log, "# Debug Store: backend ", "# ");
    cairn_print_other_kinds(log, "# ");
    cairn_print_skew(log, "# ");
    cairn_print_bad_end(log, "# ");
    cairn_print_damage(log, "# ", "'!' tells where");
    if (log->etl && !log->own)
        printf("# ETL file of %.*s, build %.*s; %s\n", CAIRN_SLICE(cairn_key(&log->text, "etl.logger")),
               CAIRN_SLICE(cairn_key(&log->text, "etl.build")), clock_text(log));
    else if (cairn_clock != CAIRN_CLOCK_TRACE)
        cairn_print_wrapped((unsigned)printf("# "), "#", 4, cairn_slice_of(clock_text(log)));
    else if (!log->session.known)
        printf("# the session stream is missing: times are session clock, records have no place\n");
    else if (!log->session.start_known)
        printf("# the session's start time is missing: times are session clock\n");
    if (log->session.compact && log->session.full)
        printf("# the log has switches as 0524H and as 0525H; these are the %s\n", compact ? "0525H" : "0524H");
    if (log->session.maximum_wait_reason == CAIRN_WAIT_REASONS_UNKNOWN && log->session.compact)
        printf("# MaximumWaitReason of this build is unknown, so states of 0525H are shown as\n"
               "# numbers (--max-wait-reason N sets it)\n");
    cairn_filter_print("# ");
    printf("%s#%*s CPU   %-*s state or reason prio   who came ticks waited%s\n",
           cairn_colour(stdout, CAIRN_COLOUR_HEAD), d->width - 2,
           cairn_clock == CAIRN_CLOCK_WALL ? "time of day" : "seconds", room_for(d, 16), "who left",
           cairn_colour(stdout, CAIRN_COLOUR_OFF));
}

/* ---- switches: there may be millions, so printf is left out ------------------------------------------------------ */

static void fill_column(struct column *c, const char *text, int columns)
{
    c->size = (uint8_t)snprintf(c->text, COLUMN, "%-*s", cairn_fill(text, columns), text);
}

/* Names of a thread as they stand in the columns of who left and of who came, padded. */
static const struct column *thread_column(const struct dump *d, uint32_t tid, bool came)
{
    struct thread_columns *t = &d->columns->threads[tid % THREADS];
    char text[CAIRN_SHOWN];
    if (!t->told || t->tid != tid) {
        fill_column(&t->left, cairn_show_thread(text, d->log, tid, room_for(d, 16)), room_for(d, 16));
        fill_column(&t->came, cairn_show_thread(text, d->log, tid, 14), 14);
        t->tid = tid;
        t->told = true;
    }
    return came ? &t->came : &t->left;
}

static const struct column *state_column(const struct dump *d, const struct cairn_switch *sw)
{
    const bool waits = sw->detailed && !sw->raw && sw->state == KTHREAD_WAITING;
    const size_t number = !sw->detailed ? 0 : 1 + (waits || sw->raw ? 256u * (1 + sw->raw) + sw->reason : sw->state);
    struct column *c = &d->columns->states[number];
    char raw[16];
    if (!c->size) {
        snprintf(raw, sizeof(raw), "raw %u", sw->reason);
        const char *text = !sw->detailed ? "-"
                           : sw->raw     ? raw
                           : waits       ? cairn_reason_name(sw->reason)
                                         : cairn_state_name(sw->state);
        c->size = (uint8_t)snprintf(c->text, COLUMN, "%s%-17s%s", cairn_colour(stdout, CAIRN_COLOUR_STATE),
                                    CAIRN_CUT(cairn_slice_of(text), 17), cairn_colour(stdout, CAIRN_COLOUR_OFF));
    }
    return c;
}

static char *put_priority(char *at, const struct cairn_switch *sw)
{
    if (!sw->detailed)
        return cairn_put(at, "  ", 2);
    if (sw->priority < 0)
        return cairn_put_number(cairn_put(at, "-", 1), (uint64_t)-sw->priority, 1);
    return cairn_put_number(at, (uint64_t)sw->priority, 2);
}

static char *put_wait(char *at, const struct cairn_switch *sw)
{
    const bool most = sw->form == CAIRN_FORM_FULL && sw->wait == CCSWAP_MASK(CCSWAP_FULL_WAIT_BITS);
    if (sw->form == CAIRN_FORM_LITE)
        return cairn_put(at, "  <=1", 5);
    if (sw->form != CAIRN_FORM_FULL && sw->form != CAIRN_FORM_EVENT)
        return cairn_put(at, "    -", 5);
    at = cairn_put_number(at, sw->wait, most ? 4 : 5);
    return most ? cairn_put(at, "+", 1) : at;
}

/* All of it is copied, which is faster than a number of bytes that differs. */
static char *put_column(char *at, const struct column *c)
{
    memcpy(at, c->text, COLUMN);
    return at + c->size;
}

static void print_switch(const struct dump *d, const struct cairn_item *item)
{
    static const struct column unknown = {"unknown       ", 14};
    const struct cairn_switch *sw = &item->sw;
    const char *from;
    char line[PLACE + 5 * COLUMN], *at = cairn_put(put_place(d, line, &from, sw->time, item->cpu), "  ", 2);
    at = cairn_put(put_column(at, thread_column(d, sw->old_tid, false)), " ", 1);
    at = cairn_put(put_column(at, state_column(d, sw)), " ", 1);
    at = cairn_put(put_priority(at, sw), " > ", 3);
    at = cairn_put(put_column(at, sw->new_known ? thread_column(d, sw->new_tid, true) : &unknown), " ", 1);
    at = cairn_put(put_wait(at, sw), "\n", 1);
    fwrite_unlocked(from, 1, (size_t)(at - from), stdout);
}

/* ---- everything else --------------------------------------------------------------------------------------------- */

/* The line behind an event with PMC items. `gained`: by so much, since the switch before; else where they stand. */
static void print_counts(const struct dump *d, const struct cairn_pmcs *counts, bool gained)
{
    char text[CAIRN_LIVE_TEXT];
    if (!counts->count)
        return;
    const bool named = d->pmc_names.count != 0; /* an ETL file may say nothing of its counters */
    size_t n = 0;
    for (unsigned i = 0; i < counts->count && n < sizeof(text); i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%" PRIu64 "%s%s",
                              i         ? ", "
                              : !gained ? "counters at "
                              : named   ? ""
                                        : "counters by ",
                              counts->value[i], named ? " " : "",
                              i < d->pmc_names.count ? d->pmc_names.name[i]
                              : named                ? "of an unnamed counter"
                                                     : "");
    int used = printf("%*s : ", d->width + 3, "");
    cairn_print_wrapped((unsigned)used, "", (unsigned)used, (struct cairn_slice){text, (uint32_t)strlen(text)});
}

/* What the thread that leaves has counted since the switch before, shown or not; where that is not known, where the
 * counters stand. */
static void print_switch_counts(const struct dump *d, const struct cairn_item *item, bool shown)
{
    struct cairn_pmcs gained, *last = &d->pmc_last[item->cpu];
    bool known = cairn_pmcs_gained(&gained, last, &item->sw);
    if (shown)
        print_counts(d, known ? &gained : last, known);
}

static void print_record(const struct dump *d, const struct cairn_item *item)
{
    char where[CAIRN_SHOWN], line[CAIRN_SHOWN], thread[CAIRN_SHOWN];
    const struct cairn_record *r = item->record;
    const int room = room_for(d, 33), indent = d->width + 6;
    const char *function = d->elf ? cairn_elf_function(d->elf, r->ip, where) : NULL;
    if (!function)
        function =
            cairn_show_address_in(where, d->log, cairn_process_at(d->log, item->tid, r->time), r->time, r->ip, room);
    print_place(d, r->time, item->cpu);
    printf("%c %s%-*s%s %s\n", r->after ? '@' : '*', cairn_colour(stdout, CAIRN_COLOUR_PLACE), room, function,
           cairn_colour(stdout, CAIRN_COLOUR_OFF),
           item->blame == CAIRN_BLAME_KNOWN ? cairn_show_thread(thread, d->log, item->tid, 27)
                                            : cairn_blame_text(item->blame));
    if (d->elf && cairn_elf_line(d->elf, r->ip, line))
        cairn_print_wrapped((unsigned)printf("%*s", indent, ""), "", (unsigned)indent,
                            (struct cairn_slice){line, (uint32_t)strlen(line)});
}

static void print_epoch(const struct dump *d, const struct cairn_item *item)
{
    char text[CAIRN_SHOWN], lost[32];
    const struct cairn_epoch *e = item->epoch;
    if (e->reason == CAIRN_DS_START) {
        print_place(d, item->time, item->cpu);
        printf("= %s on, epoch %" PRIu32 " begins\n",
               e->format == DS_FORMAT_ARCH ? "architectural PEBS" : "Debug Store", e->number);
        return;
    }
    if (e->lost == CAIRN_DS_LOST_UNKNOWN)
        snprintf(lost, sizeof(lost), "buffer full, lost: unknown");
    else
        snprintf(lost, sizeof(lost), "%" PRIu64 " lost", e->lost);
    int size = snprintf(text, sizeof(text), "drain of epoch %" PRIu32 " (%s): %" PRIu32 " %s%s, %s", e->number,
                        cairn_drain_name(e->reason), e->records, cairn_plural(e->records, "record", "records"),
                        cairn_epoch_missing(e) ? " (others are missing)" : "", lost);
    const int used = print_place(d, item->time, item->cpu) + 2;
    const enum cairn_colour colour = e->lost ? CAIRN_COLOUR_BAD : CAIRN_COLOUR_OFF;
    printf("%s=%s ", cairn_colour(stdout, colour), cairn_colour(stdout, CAIRN_COLOUR_OFF));
    cairn_print_wrapped((unsigned)used, "", (unsigned)used, (struct cairn_slice){text, (uint32_t)size});
}

static void print_hole(const struct dump *d, const struct cairn_item *item)
{
    char what[CAIRN_SHOWN];
    printf("%*s %2" PRIu32 " %s! %s%s\n", d->width, "", item->cpu, cairn_colour(stdout, CAIRN_COLOUR_BAD),
           cairn_show_hole(what, d->log, item->hole), cairn_colour(stdout, CAIRN_COLOUR_OFF));
}

/* NULL: it is nothing about spin locks. */
static const char *lock_text(const struct dump *d, const struct cairn_item *item, char out[CAIRN_LOCK_TEXT])
{
    if (!item->lock)
        return cairn_lock_config_show(out, item->event);
    return cairn_lock_show(out, d->log, item->cpu, item->lock);
}

static void print_event(const struct dump *d, const struct cairn_item *item)
{
    char text[CAIRN_EVENT_TEXT], lock[CAIRN_LOCK_TEXT];
    struct cairn_live live;
    const char *shown = lock_text(d, item, lock);
    if (!shown)
        shown = cairn_event_text(text, d->log, item->event, cairn_live_of(item->event, &live) ? &live : NULL);
    int used = print_place(d, item->time, item->cpu) + printf("+ ");
    cairn_print_wrapped((unsigned)used, "", (unsigned)used, (struct cairn_slice){shown, (uint32_t)strlen(shown)});
    struct cairn_pmcs counts;
    cairn_pmcs_of(&counts, item->event);
    print_counts(d, &counts, false);
}

static void print_item(const struct dump *d, const struct cairn_item *item)
{
    switch (item->kind) {
    case CAIRN_ITEM_SWITCH:
        print_switch(d, item);
        break;
    case CAIRN_ITEM_RECORD:
        print_record(d, item);
        break;
    case CAIRN_ITEM_EPOCH:
        print_epoch(d, item);
        break;
    case CAIRN_ITEM_EVENT:
        print_event(d, item);
        break;
    default:
        print_hole(d, item);
    }
}

static void print_all(const struct dump *d, bool compact)
{
    const struct cairn_frames *frames = &d->log->frames;
    struct cairn_timeline t;
    const struct cairn_item *item;
    print_head(d, compact);
    cairn_timeline_init(&t, d->log, -1, compact, cairn_by, false);
    while ((item = cairn_timeline_any(&t)) != NULL) {
        const bool shown = cairn_filter_passes(item);
        if (shown)
            print_item(d, item);
        if (item->kind == CAIRN_ITEM_SWITCH)
            print_switch_counts(d, item, shown);
    }
    cairn_timeline_free(&t);
    for (size_t i = 0; i < frames->missing.count; i++) {
        char run[CAIRN_SHOWN];
        printf("%s! %s of %s%" PRIu64 " missing%s\n", cairn_colour(stdout, CAIRN_COLOUR_BAD),
               cairn_show_run(run, &frames->missing.items[i]), frames->total_known ? "" : "at least ", frames->total,
               cairn_colour(stdout, CAIRN_COLOUR_OFF));
    }
    if (d->log->panic)
        cairn_print_bad_end(d->log, "! ");
}

static const char *elf_path;
static bool want_compact, want_full;
static const struct cairn_option options[] = {
    CAIRN_CPU_OPTION,
    CAIRN_THREAD_OPTION,
    CAIRN_TIME_OPTIONS,
    CAIRN_REASON_OPTION,
    {'e', "elf", "FILE", "take function names and source lines from this kernel.elf.full", .text = &elf_path},
    {0, "compact", NULL, "show the switches of the 0525H batches, if the log has both kinds", .on = &want_compact},
    {0, "full", NULL, "show the switches of the 0524H events", .on = &want_full},
    CAIRN_BY_OPTION,
    CAIRN_LOG_OPTIONS,
};

static int show(const struct cairn_log *log)
{
    struct second second = {0};
    struct dump d = {.log = log, .width = width_of(log), .second = &second};
    if (want_compact && want_full)
        return cairn_usage(&cairn_dump_command, "--compact and --full exclude each other; give only one");
    if ((want_compact || want_full) && !cairn_has_switches(log, want_compact)) {
        cairn_error("this log has no %s; try again without --%s", want_compact ? "0525H batches" : "0524H events",
                    want_compact ? "compact" : "full");
        return CAIRN_BAD;
    }
    const int status = elf_path ? cairn_elf_open(&d.elf, elf_path, log) : CAIRN_GOOD;
    if (status)
        return status;
    bool compact = want_compact || (!want_full && cairn_prefers_compact(log));
    cairn_pmc_names(&d.pmc_names, log);
    d.pmc_last = cairn_alloc(CAIRN_CPUS_MOST * sizeof(*d.pmc_last));
    d.columns = cairn_alloc(sizeof(*d.columns));
    print_all(&d, compact);
    free(d.pmc_last);
    free(d.columns);
    cairn_elf_close(d.elf);
    return cairn_filtered(CAIRN_GOOD);
}

const struct cairn_command cairn_dump_command = {
    .name = "dump",
    .arguments = "[options] LOG",
    .summary = "list switches, PEBS records and events by time",
    .options = options,
    .notes = "The line of a switch has '>': the thread that left, its state or wait reason,\n"
             "its priority, the thread that came, and how many clock ticks that thread had\n"
             "waited. Other lines have another mark:\n"
             "'*' a PEBS record: its instruction, and the thread that caused it;\n"
             "'@' a PEBS record without its instruction (formats 0 and 1, unless PEBS_TRAP of\n"
             "the CPU's IA32_PERF_CAPABILITIES is 0): the instruction after it, the thread;\n"
             "'=' a drain of the PEBS buffer; ':' counts of the outgoing thread (PMC items);\n"
             "'+' any other event; '!' something is missing or was lost here.\n",
    .examples = {"cairn dump t.log", "cairn dump --thread 'fight*' --from 200ms --until 0.5 t.log"},
    .show = show,
};
