/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 6; hint: several. Names the first suspect, if there are several. */
#define by_index right
#include "labs/06-whose-sample/solution.c" /* all else is right */
#undef by_index

uint32_t by_index(const struct trace *t, const struct sample *s)
{
    const uint32_t who = right(t, s);
    uint32_t b = 0;
    while (who == AMBIGUOUS && (t->batches[b].epoch != s->epoch || t->batches[b].index <= s->address))
        b++;
    return who == AMBIGUOUS ? t->switches[t->batches[b].first].tid : who;
}
