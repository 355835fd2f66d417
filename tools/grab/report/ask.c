/* SPDX-License-Identifier: MIT */
#include "tools/grab/report/ask.h"

#include <stdarg.h>
#include <stdio.h>

void grab_say(struct grab_answer *a, const char *answer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(a->evidence, sizeof a->evidence, format, args);
    va_end(args);
    snprintf(a->answer, sizeof a->answer, "%s", answer);
}

bool grab_was_run(const struct grab_judged *j, enum grab_setting_number n, struct grab_answer *a)
{
    if (!j->taken[n].refused)
        return true;
    GRAB_NOT_ASKED(a, "%s: %s", grab_settings[n].event, j->taken[n].refused);
    return false;
}

bool grab_enough(struct grab_answer *a, size_t count)
{
    if (count >= GRAB_LEAST)
        return true;
    GRAB_NOT_ASKED(a, "only %zu records of the known program" GRAB_TOO_FEW, count);
    return false;
}

bool grab_nearly(size_t count, size_t all)
{
    return count * 100 >= all * 95;
}
