/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 6; hint: running. Suspects only the threads that leave in the batch, not the one that ran at
 * its end. */
#define by_index right
#include "labs/06-whose-sample/solution.c" /* all else is right */
#undef by_index

uint32_t by_index(const struct trace *t, const struct sample *s)
{
    struct suspects who = {0};
    uint32_t b = 0;
    while (b < t->batch_count && (t->batches[b].epoch != s->epoch || t->batches[b].index <= s->address))
        b++;
    if (b == t->batch_count)
        return right(t, s);
    for (uint32_t i = 0; i < t->batches[b].count; i++)
        accuse(&who, &t->switches[t->batches[b].first + i]);
    return verdict(&who);
}
