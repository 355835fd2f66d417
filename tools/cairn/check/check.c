/* SPDX-License-Identifier: MIT */
#include "tools/cairn/check/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "tools/cairn/base/colour.h"
#include "tools/cairn/log/show.h"

#define SHOWN_OF_EACH 5

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
            cairn_colour(check->out, CAIRN_COLOUR_OFF), cairn_rule_text(check->log, rule));
    if (cpu >= 0)
        at += (unsigned)fprintf(check->out, "CPU %d%s", cpu, time ? "" : ": ");
    if (time)
        at +=
            (unsigned)fprintf(check->out, "%sat %s: ", cpu >= 0 ? " " : "", cairn_show_moment(when, check->log, *time));
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    cairn_wrap_for(check->out, at, "", 4, (struct cairn_slice){what, (uint32_t)strlen(what)});
}
