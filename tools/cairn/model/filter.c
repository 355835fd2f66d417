/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* FNM_CASEFOLD */
#include "tools/cairn/model/filter.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/base/number_map.h"
#include "tools/cairn/log/activity.h"
#include "tools/cairn/log/clock.h"
#include "tools/cairn/log/locks.h"
#include "tools/cairn/log/rundown.h"
#include "tools/cairn/log/show.h"

#define NS   UINT64_C(1000000000)
#define WORD 64u /* bytes of one word of a list, its end included */

static struct {
    const char *cpus, *threads, *from, *until, *reasons; /* as given; NULL: not */
    bool cpu[CAIRN_CPUS_MOST];
    uint32_t highest_cpu;
    struct moment {
        uint64_t ns; /* on the clock asked for */
        bool wall;   /* or what time it was: */
        struct cairn_date date;
    } since, before;
    bool state[KTHREAD_STATES], reason[UINT8_MAX + 1];
    /* of the log that is read */
    int64_t begin, end;      /* session clock */
    struct cairn_map chosen; /* TIDs */
    bool passed;             /* anything has */
} filter;

void cairn_filter_clear(void)
{
    cairn_map_free(&filter.chosen);
    memset(&filter, 0, sizeof(filter));
}

bool cairn_filter_by_cpu(void)
{
    return filter.cpus;
}

bool cairn_filter_by_thread(void)
{
    return filter.threads;
}

bool cairn_filter_by_reason(void)
{
    return filter.reasons;
}

bool cairn_filter_narrow(void)
{
    return filter.threads || filter.from || filter.until || filter.reasons;
}

bool cairn_filter_on(void)
{
    return filter.cpus || cairn_filter_narrow();
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Takes the next word off a list with commas. False: there is none, or it is empty or too long (*bad). */
static bool next_word(const char **list, char word[WORD], bool *bad)
{
    const size_t size = strcspn(*list, ",");
    *bad = !size || size >= WORD;
    if (*bad)
        return false;
    memcpy(word, *list, size);
    word[size] = '\0';
    *list += size + ((*list)[size] == ',' && (*list)[size + 1]);
    return true;
}

static bool number(const char *text, uint64_t most, uint64_t *value)
{
    return isdigit((unsigned char)*text) &&
           cairn_slice_u64((struct cairn_slice){text, (uint32_t)strlen(text)}, value) && *value <= most;
}

_Static_assert(CAIRN_CPUS_MOST == 2048, "the text below");
const char *cairn_filter_cpus(const char *list)
{
    static const char must[] = "must be numbers from 0 to 2047, as in 0,2-3";
    char word[WORD];
    bool bad = !*list;
    filter.cpus = list;
    memset(filter.cpu, 0, sizeof(filter.cpu));
    filter.highest_cpu = 0;
    for (const char *at = list; *at && next_word(&at, word, &bad);) {
        const uint64_t most = CAIRN_CPUS_MOST - 1;
        uint64_t first, last;
        char *dash = strchr(word, '-');
        if (dash)
            *dash = '\0';
        if (!number(word, most, &first) || !number(dash ? dash + 1 : word, most, &last) || last < first)
            return must;
        for (; first <= last; first++)
            filter.cpu[first] = true;
        if (filter.highest_cpu < last)
            filter.highest_cpu = (uint32_t)last;
    }
    return bad ? must : NULL;
}

const char *cairn_filter_threads(const char *list)
{
    char word[WORD];
    bool bad = !*list;
    for (const char *at = list; *at && next_word(&at, word, &bad);)
        ;
    filter.threads = list;
    return bad ? "must be TIDs or names, as in 12,idle,consumer*" : NULL;
}

/* Nanoseconds. Of more than nine digits behind the point the rest is cut off. */
static bool read_time(const char *text, uint64_t *ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"", NS}, {"s", NS}, {"ms", NS / 1000}, {"us", NS / 1000000}, {"ns", 1}};
    char *end;
    errno = 0;
    const uint64_t whole = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || errno)
        return false;
    const char *digits = "";
    if (*end == '.') {
        digits = end + 1;
        end += 1 + strspn(end + 1, "0123456789");
        if (end == digits)
            return false;
    }
    for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        uint64_t part = units[i].ns;
        if (strcmp(end, units[i].name) != 0)
            continue;
        if (whole > INT64_MAX / 2 / units[i].ns)
            return false;
        *ns = whole * units[i].ns;
        for (; isdigit((unsigned char)*digits); digits++) {
            part /= 10;
            *ns += (uint64_t)(*digits - '0') * part;
        }
        return true;
    }
    return false;
}

static const char *read_moment(const char *text, struct moment *m)
{
    m->wall = cairn_date_read(&m->date, text);
    return m->wall || read_time(text, &m->ns)
               ? NULL
               : "must be a time, as in 1.5s, 200ms, 10us, 100ns, seconds without a unit, 2026-11-21T02:10:59.5Z or "
                 "02:10:59.5";
}

const char *cairn_filter_from(const char *time)
{
    filter.from = time;
    return read_moment(time, &filter.since);
}

const char *cairn_filter_until(const char *time)
{
    filter.until = time;
    return read_moment(time, &filter.before);
}

static bool is_like(const char *pattern, const char *name)
{
    return name[0] != '?' && fnmatch(pattern, name, FNM_CASEFOLD) == 0; /* "?": it has none */
}

const char *cairn_filter_reasons(const char *list)
{
    static char must[1024];
    char word[WORD];
    size_t n = (size_t)snprintf(must, sizeof(must), "must be some of these, with * and ? as wildcards:");
    for (const char *const *w = cairn_switch_words; *w && n < sizeof(must); w++)
        n += (size_t)snprintf(must + n, sizeof(must) - n, "%s %s", w == cairn_switch_words ? "" : ",", *w);
    bool bad = !*list;
    filter.reasons = list;
    memset(filter.state, 0, sizeof(filter.state));
    memset(filter.reason, 0, sizeof(filter.reason));
    for (const char *at = list; *at && next_word(&at, word, &bad);) {
        bool any = false;
        for (unsigned i = 0; i < KTHREAD_STATES; i++)
            if (is_like(word, cairn_state_name((uint8_t)i)))
                any = filter.state[i] = true;
        for (unsigned i = 0; i <= UINT8_MAX; i++)
            if (is_like(word, cairn_reason_name((uint8_t)i)))
                any = filter.reason[i] = true;
        if (!any)
            return must;
    }
    return bad ? must : NULL;
}

/* ---- on a log ---------------------------------------------------------------------------------------------------- */

static void choose(uint32_t tid)
{
    if (!cairn_map_find(&filter.chosen, tid))
        cairn_map_add(&filter.chosen, tid, 0);
}

/* All threads that `word` names: by TID, by name, or by both as they are shown. False: there is none. */
static bool choose_named(const struct cairn_log *log, const char *word)
{
    uint64_t tid;
    char name[CAIRN_SHOWN], shown[CAIRN_SHOWN];
    bool any = false;
    if (number(word, UINT32_MAX, &tid)) {
        choose((uint32_t)tid); /* it need not have a name */
        return true;
    }
    if (fnmatch(word, "idle", 0) == 0) {
        choose(0);
        any = true;
    }
    for (size_t i = 0; i < log->text.names.count; i++) {
        const struct cairn_name *n = &log->text.names.items[i];
        if (!n->tid)
            continue;
        cairn_slice_text(name, sizeof(name), n->name);
        cairn_show_thread(shown, log, n->tid, CAIRN_SHOWN - 1);
        if (fnmatch(word, name, 0) == 0 || fnmatch(word, shown, 0) == 0) {
            choose(n->tid);
            any = true;
        }
    }
    if (!any && strncmp(word, "thread:", 7) == 0 && number(word + 7, UINT32_MAX, &tid)) { /* one without a name */
        choose((uint32_t)tid);
        any = true;
    }
    return any;
}

#define HOUR (3600 * CAIRN_SECOND)
#define DAY  (24 * HOUR)

/* A time of the day is the first behind the session's beginning, or in the hour before that. */
static int64_t wall_units(const struct cairn_log *log, const struct cairn_date *d)
{
    const int64_t began = cairn_date_at(log, log->session.start_known ? log->session.start : log->session.wall.time);
    const int64_t least = began - HOUR, east = d->zoned ? d->east : cairn_zone_east(log, began);
    int64_t local = d->local;
    if (!d->dated) {
        const int64_t since =
            least + east * CAIRN_SECOND; /* local time, too; the days of FILETIME begin at 0 o'clock */
        local += since - since % DAY;
        local += local < since ? DAY : 0;
    }
    return cairn_date_time(log, d->zoned ? local - east * CAIRN_SECOND : cairn_zone_filetime(log, local));
}

/* Session clock, rounded up: what is shown of a time is cut off. */
static int64_t units(const struct cairn_log *log, const struct moment *m)
{
    const struct cairn_session *s = &log->session;
    const unsigned __int128 hz = s->hz ? s->hz : TRACE_CLOCK_HZ;
    if (m->wall)
        return s->wall.known ? wall_units(log, &m->date) : 0;
    const __int128 at = (__int128)((m->ns * hz + NS - 1) / NS) + cairn_show_origin(log);
    return at > INT64_MAX ? INT64_MAX : (int64_t)at;
}

/* Two times that round to one unit of the clock are in order. */
static bool is_empty_time(void)
{
    return filter.since.wall || filter.before.wall ? filter.end <= filter.begin : filter.before.ns <= filter.since.ns;
}

int cairn_filter_use(const struct cairn_log *log, char why[2 * CAIRN_SHOWN])
{
    char word[WORD];
    bool bad;
    why[0] = '\0';
    cairn_map_free(&filter.chosen);
    for (const char *at = filter.threads; at && *at && next_word(&at, word, &bad);)
        if (!choose_named(log, word))
            snprintf(why, 2 * CAIRN_SHOWN,
                     "--thread %s: no thread of this trace has that name; 'cairn stat --top 1000' lists the threads",
                     word);
    filter.begin = filter.from ? units(log, &filter.since) : INT64_MIN;
    filter.end = filter.until ? units(log, &filter.before) : INT64_MAX;
    if (filter.cpus && log->cpus && filter.highest_cpu >= log->cpus) /* none: a damaged log has lost their number */
        snprintf(why, 2 * CAIRN_SHOWN, "--cpu %.*s: this trace has %" PRIu32 " %s, numbered from 0", (int)WORD,
                 filter.cpus, log->cpus, cairn_plural(log->cpus, "CPU", "CPUs"));
    else if ((filter.since.wall || filter.before.wall) && !log->session.wall.known)
        snprintf(why, 2 * CAIRN_SHOWN, "--%s %.*s: this log does not tell what time it was: %s",
                 filter.since.wall ? "from" : "until", (int)WORD, filter.since.wall ? filter.from : filter.until,
                 cairn_date_unknown(log));
    else if (filter.from && filter.until && is_empty_time())
        snprintf(why, 2 * CAIRN_SHOWN, "--from %.*s is not before --until %.*s", (int)WORD, filter.from, (int)WORD,
                 filter.until);
    else if (filter.reasons && cairn_prefers_compact(log) &&
             log->session.maximum_wait_reason == CAIRN_WAIT_REASONS_UNKNOWN)
        snprintf(why, 2 * CAIRN_SHOWN,
                 "--reason: it is unknown which numbers are states and which are wait reasons in this build of "
                 "Windows; give --max-wait-reason N");
    return why[0] ? -EINVAL : 0;
}

/* ---- passing ----------------------------------------------------------------------------------------------------- */

bool cairn_filter_cpu(uint32_t cpu)
{
    return !filter.cpus || filter.cpu[cpu];
}

bool cairn_filter_time(int64_t time)
{
    return (!filter.from || time >= filter.begin) && (!filter.until || time < filter.end);
}

bool cairn_filter_thread(uint32_t tid)
{
    return !filter.threads || cairn_map_find(&filter.chosen, tid);
}

void cairn_filter_cut(int64_t *from, int64_t *until)
{
    if (filter.from && *from < filter.begin)
        *from = filter.begin;
    if (filter.until && *until > filter.end)
        *until = filter.end;
}

uint64_t cairn_filter_span(int64_t from, int64_t until)
{
    cairn_filter_cut(&from, &until);
    return until > from ? (uint64_t)until - (uint64_t)from : 0;
}

static bool is_chosen_event(const struct cairn_item *item)
{
    struct cairn_live live;
    struct cairn_rundown told;
    uint32_t tid;
    if (item->lock)
        return cairn_filter_thread(cairn_lock_read(item->lock).thread_id);
    if (item->blame == CAIRN_BLAME_KNOWN && cairn_filter_thread(item->tid))
        return true;
    if (cairn_live_of(item->event, &live) && cairn_live_thread(&live, &tid))
        return cairn_filter_thread(tid);
    if (item->event->hook == CAIRN_NO_HOOK && item->event->tid != CAIRN_NO_TID)
        return cairn_filter_thread(item->event->tid); /* a provider's or a message: who wrote it */
    cairn_rundown_read(&told, item->event);
    return told.kind == CAIRN_RUNDOWN_THREAD && cairn_filter_thread(told.tid);
}

static bool is_chosen(const struct cairn_item *item)
{
    switch (item->kind) {
    case CAIRN_ITEM_SWITCH:
        return cairn_filter_thread(item->sw.old_tid) || (item->sw.new_known && cairn_filter_thread(item->sw.new_tid));
    case CAIRN_ITEM_RECORD:
        return item->blame == CAIRN_BLAME_KNOWN && cairn_filter_thread(item->tid);
    case CAIRN_ITEM_EPOCH:
        return item->epoch->lost || item->epoch->swallowed;
    case CAIRN_ITEM_BRANCHES:
        return cairn_filter_thread(item->branches->drain.tid);
    case CAIRN_ITEM_EVENT:
        return is_chosen_event(item);
    default:
        return true;
    }
}

static bool has_reason(const struct cairn_item *item)
{
    const struct cairn_switch *sw = &item->sw;
    if (item->kind == CAIRN_ITEM_EPOCH)
        return item->epoch->lost || item->epoch->swallowed;
    if (item->kind == CAIRN_ITEM_BRANCHES)
        return !item->branches->count && item->branches->drain.lost;
    if (item->kind != CAIRN_ITEM_SWITCH)
        return item->kind == CAIRN_ITEM_HOLE;
    return sw->detailed && !sw->raw && sw->state < KTHREAD_STATES && /* a file may hold any */
           (filter.state[sw->state] || (sw->state == KTHREAD_WAITING && filter.reason[sw->reason]));
}

bool cairn_filter_passes(const struct cairn_item *item)
{
    if (!cairn_filter_cpu(item->cpu))
        return false;
    const bool gap = item->kind == CAIRN_ITEM_HOLE;
    if (gap ? (filter.until && item->time >= filter.end) || (filter.from && item->until < filter.begin)
            : !cairn_filter_time(item->time))
        return false;
    if ((filter.threads && !is_chosen(item)) || (filter.reasons && !has_reason(item)))
        return false;
    filter.passed = true;
    return true;
}

bool cairn_filter_passed(void)
{
    return filter.passed;
}

/* ---- in words ---------------------------------------------------------------------------------------------------- */

const char *cairn_filter_text(void)
{
    static char text[512];
    const struct {
        const char *name, *value;
    } all[] = {{"--cpu", filter.cpus},
               {"--thread", filter.threads},
               {"--from", filter.from},
               {"--until", filter.until},
               {"--reason", filter.reasons}};
    size_t n = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i].value && n < sizeof(text))
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %s", n ? " " : "", all[i].name, all[i].value);
    for (char *p = text; *p; p++)
        *p = *p >= ' ' && *p <= '~' ? *p : '?';
    return text;
}

void cairn_filter_print(const char *prefix)
{
    const char *text = cairn_filter_text();
    if (*text)
        cairn_print_wrapped((unsigned)printf("%sonly: ", prefix), prefix, (unsigned)strlen(prefix) + 2,
                            (struct cairn_slice){text, (uint32_t)strlen(text)});
}
