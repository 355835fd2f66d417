/* SPDX-License-Identifier: MIT */
/* A right program for lab 6: by_index looks at batches from the last one. */
#define by_index right_by_index
#include "labs/06-whose-sample/solution.c"
#undef by_index

uint32_t by_index(const struct trace *t, const struct sample *s)
{
    uint32_t b = t->batch_count;
    while (b && (t->batches[b - 1].epoch > s->epoch ||
                 (t->batches[b - 1].epoch == s->epoch && t->batches[b - 1].index > s->address)))
        b--;
    if (b == t->batch_count)
        return UNKNOWN;
    if (t->batches[b].epoch == s->epoch)
        return ran_in(t, b);
    const struct leaving *l = &t->switches[t->batches[b].first];
    return l->sampled ? l->tid : UNKNOWN;
}
