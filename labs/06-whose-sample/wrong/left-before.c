/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 6; hint: next-switch. Takes the thread that left last for the one that runs. */
#define by_time right
#include "labs/06-whose-sample/solution.c" /* all else is right */
#undef by_time

uint32_t by_time(const struct trace *t, const struct sample *s)
{
    uint32_t i = 0;
    while (i < t->switch_count && t->switches[i].time <= s->time)
        i++;
    return !s->timed || !i ? UNKNOWN : right(t, s) == AMBIGUOUS ? AMBIGUOUS : t->switches[i - 1].tid;
}
