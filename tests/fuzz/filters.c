/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/filters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/log/clock.h"
#include "tools/cairn/model/cpu_time.h"
#include "tools/cairn/model/totals.h"

struct kind {
    const char *option;
    const char *(*take)(const char *value);
    bool (*value)(const struct cairn_log *log, uint32_t choice, char out[CAIRN_SHOWN]);
};

/* A time within the session, in nanoseconds since it began, or one soon after. */
static bool a_time(const struct cairn_log *log, uint32_t choice, char out[CAIRN_SHOWN])
{
    int64_t start, stop;
    cairn_stints_range(log, cairn_prefers_compact(log), &start, &stop);
    const unsigned __int128 hz = log->session.hz ? log->session.hz : TRACE_CLOCK_HZ;
    const unsigned __int128 units = (unsigned __int128)((__int128)stop - start) * (choice % 32) / 30;
    const unsigned __int128 ns = units * UINT64_C(1000000000) / hz;
    snprintf(out, CAIRN_SHOWN, "%" PRIu64 "ns", (uint64_t)ns);
    return stop > start && ns <= INT64_MAX / 2;
}

static bool a_cpu(const struct cairn_log *log, uint32_t choice, char out[CAIRN_SHOWN])
{
    if (log->cpus)
        snprintf(out, CAIRN_SHOWN, "%" PRIu32, choice % log->cpus);
    return log->cpus;
}

static bool a_thread(const struct cairn_log *log, uint32_t choice, char out[CAIRN_SHOWN])
{
    static const char *const patterns[] = {"idle", "*", "idle,1,2"};
    const size_t count = log->text.names.count;
    if (choice & 1 || !count)
        snprintf(out, CAIRN_SHOWN, "%s", patterns[(choice >> 1) % 3]);
    else
        snprintf(out, CAIRN_SHOWN, "%" PRIu32, log->text.names.items[(choice >> 1) % count].tid);
    return true;
}

static bool a_reason(const struct cairn_log *log, uint32_t choice, char out[CAIRN_SHOWN])
{
    static const char *const patterns[] = {"Ready", "Wr*", "W*,Running", "*"};
    (void)log;
    snprintf(out, CAIRN_SHOWN, "%s", patterns[choice % 4]);
    return true;
}

enum { CPU, THREAD, FROM, UNTIL, REASON, KINDS };
#define BITS 5u /* of a choice, for each */

static const struct kind kinds[KINDS] = {
    [CPU] = {"cpu", cairn_filter_cpus, a_cpu},
    [THREAD] = {"thread", cairn_filter_threads, a_thread},
    [FROM] = {"from", cairn_filter_from, a_time},
    [UNTIL] = {"until", cairn_filter_until, a_time},
    [REASON] = {"reason", cairn_filter_reasons, a_reason},
};
static unsigned set; /* bits: kinds */

static void plain_clock(void)
{
    cairn_clock = CAIRN_CLOCK_TRACE;
    cairn_zone = CAIRN_ZONE_UTC;
}

void fuzz_filter_clear(void)
{
    plain_clock();
    cairn_filter_clear();
}

static bool use(const struct cairn_log *log, unsigned which, uint32_t choice)
{
    static char values[KINDS][CAIRN_SHOWN];
    char why[2 * CAIRN_SHOWN];
    bool good = true;
    fuzz_filter_clear();
    for (unsigned k = 0; k < KINDS && good; k++)
        if (which >> k & 1)
            good = kinds[k].value(log, choice >> BITS * k, values[k]) && !kinds[k].take(values[k]);
    good = good && cairn_filter_use(log, why) == 0;
    set = good ? which : 0;
    if (!good)
        cairn_filter_clear();
    return good;
}

/* What this log can tell of what is chosen. */
static void use_clock(const struct cairn_log *log, uint32_t choice)
{
    char why[CAIRN_CLOCK_WHY];
    cairn_clock = choice % (CAIRN_CLOCK_WALL + 1);
    cairn_zone = choice / (CAIRN_CLOCK_WALL + 1) % (CAIRN_ZONE_TRACE + 1);
    if (!cairn_clock_told(log, why))
        plain_clock();
}

bool fuzz_filter(const struct cairn_log *log, uint32_t choice)
{
    if (!use(log, 1 + choice % ((1u << KINDS) - 1), choice / ((1u << KINDS) - 1)))
        return false;
    use_clock(log, choice);
    return true;
}

bool fuzz_filter_taken(const struct cairn_command *command)
{
    for (unsigned k = 0; k < KINDS; k++) {
        const struct cairn_option *o = command->options;
        while (o->name && strcmp(o->name, kinds[k].option) != 0)
            o++;
        if (set >> k & 1 && !o->name)
            return false;
    }
    return true;
}

static struct cairn_totals *totals(const struct cairn_log *log)
{
    struct cairn_totals *t = malloc(sizeof(*t));
    if (!t)
        abort();
    cairn_totals_read(t, log, CAIRN_BY_FORMAT, true);
    return t;
}

static void drop(struct cairn_totals *t)
{
    cairn_totals_free(t);
    free(t);
}

static void believe(bool what)
{
    if (!what)
        abort();
}

void fuzz_filter_parts(const struct cairn_log *log, uint32_t choice)
{
    if (!use(log, 1u << UNTIL, choice << BITS * UNTIL))
        return;
    struct cairn_totals *before = totals(log);
    believe(use(log, 1u << FROM, choice << BITS * FROM));
    struct cairn_totals *after = totals(log);
    cairn_filter_clear();
    struct cairn_totals *all = totals(log);
    for (uint32_t c = 0; c < log->cpus; c++) {
        believe(before->busy[c] + after->busy[c] == all->busy[c]);
        believe(before->idle[c] + after->idle[c] == all->idle[c]);
        believe(before->unknown[c] + after->unknown[c] == all->unknown[c]);
        believe(before->switches[c] + after->switches[c] == all->switches[c]);
    }
    believe(before->records + after->records == all->records);
    believe(before->attributed + after->attributed == all->attributed);
    believe(before->passed.events + after->passed.events == all->passed.events);
    believe(before->passed.locks + after->passed.locks == all->passed.locks);
    believe(before->passed.drains + after->passed.drains == all->passed.drains);
    drop(before);
    drop(after);
    drop(all);
}
