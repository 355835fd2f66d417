/* SPDX-License-Identifier: MIT */
#include "tools/cairn/check/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "tools/cairn/base/colour.h"
#include "tools/cairn/log/show.h"

#define SHOWN_OF_EACH 5

const char *cairn_rule_text(enum cairn_rule rule)
{
    static const char *const text[CAIRN_RULES] = {
        [CAIRN_RULE_FRAMES] = "frames: all there, checksums right",
        [CAIRN_RULE_BUFFERS] = "buffers: headers right, sequence unique",
        [CAIRN_RULE_EVENTS] = "events: headers and sizes right",
        [CAIRN_RULE_TIMES] = "time stamps never decrease on a CPU",
        [CAIRN_RULE_ITEMS] = "PebsIndex on each switch event, or on none",
        [CAIRN_RULE_PMC] = "PMC items: as many each time, never back",
        [CAIRN_RULE_BATCHES] = "batches: table, deltas, age, record forms",
        [CAIRN_RULE_STAMPS] = "PebsIndex grows within an epoch's area",
        [CAIRN_RULE_EPOCHS] = "epochs consecutive, none within a batch",
        [CAIRN_RULE_AREAS] = "DS areas: base <= index <= maximum",
        [CAIRN_RULE_RECORDS] = "PEBS records: size, order, between stamps",
        [CAIRN_RULE_COUNTS] = "counts: tried = written + lost, and there",
        [CAIRN_RULE_SESSION] = "session: starts, stops, masks in order",
        [CAIRN_RULE_RUNDOWN] = "rundown: all that runs is told of, once",
        [CAIRN_RULE_TRUTH_SESSION] = "truth: each start, stop, change of masks",
        [CAIRN_RULE_TRUTH_RUNDOWN] = "truth: each thread that ran is told of",
        [CAIRN_RULE_TRUTH_COMPACT] = "truth: each 0525H switch equal, in order",
        [CAIRN_RULE_TRUTH_FULL] = "truth: each 0524H switch equal, in order",
        [CAIRN_RULE_TRUTH_LOST] = "truth: switches lost = truth - recorded",
        [CAIRN_RULE_TRUTH_RECORDS] = "truth: each PEBS record equal",
        [CAIRN_RULE_TRUTH_WORDS] = "truth: each PEBS record, word by word",
        [CAIRN_RULE_TRUTH_THREADS] = "truth: each record's thread right",
        [CAIRN_RULE_TRUTH_LIVE] = "truth: each event between the switches",
        [CAIRN_RULE_TRUTH_COUNTS] = "truth: each thread's PMC counts, by switch",
        [CAIRN_RULE_BTS] = "BTS: drains, areas, order, thread",
        [CAIRN_RULE_TRUTH_BRANCHES] = "truth: each branch, and those lost",
        [CAIRN_RULE_LOG] = "model's log: whole, and as the records say",
        [CAIRN_RULE_LOCKS] = "spin locks: fields, times, sampling",
        [CAIRN_RULE_TRUTH_LOCKS] = "truth: each lock's release, sampled or not",
    };
    return text[rule];
}

void cairn_check_init(struct cairn_check *check, const struct cairn_log *log, FILE *out)
{
    *check = (struct cairn_check){.log = log, .out = out, .by = CAIRN_BY_FORMAT, .whole = !cairn_log_damaged(log)};
}

uint64_t cairn_check_failed(const struct cairn_check *check)
{
    uint64_t failed = 0;
    for (unsigned i = 0; i < CAIRN_RULES; i++)
        failed += check->failed[i];
    return failed;
}

void cairn_fail(struct cairn_check *check, enum cairn_rule rule, int cpu, const int64_t *time, const char *format, ...)
{
    char when[CAIRN_SHOWN], what[2 * CAIRN_SHOWN];
    unsigned at = 2;
    va_list args;
    if (check->failed[rule]++ >= SHOWN_OF_EACH || !check->out)
        return;
    fprintf(check->out, "%sFAIL%s %s\n  ", cairn_colour(check->out, CAIRN_COLOUR_BAD),
            cairn_colour(check->out, CAIRN_COLOUR_OFF), cairn_rule_text(rule));
    if (cpu >= 0)
        at += (unsigned)fprintf(check->out, "CPU %d%s", cpu, time ? "" : ": ");
    if (time)
        at +=
            (unsigned)fprintf(check->out, "%sat %s s: ", cpu >= 0 ? " " : "", cairn_show_time(when, check->log, *time));
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    cairn_wrap(check->out, at, "", 4, (struct cairn_slice){what, (uint32_t)strlen(what)});
}
