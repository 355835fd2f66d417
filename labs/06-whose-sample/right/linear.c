/* SPDX-License-Identifier: MIT */
/* A right program for lab 6: by_time looks at each switch. */
#define by_time right_by_time
#include "labs/06-whose-sample/solution.c"
#undef by_time

uint32_t by_time(const struct trace *t, const struct sample *s)
{
    for (uint32_t i = 0; s->timed && i < t->switch_count; i++)
        if (t->switches[i].time == s->time)
            return AMBIGUOUS;
        else if (t->switches[i].time > s->time)
            return t->switches[i].sampled ? t->switches[i].tid : UNKNOWN;
    return UNKNOWN;
}
