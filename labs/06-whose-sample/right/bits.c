/* SPDX-License-Identifier: MIT */
/* A right program for lab 6: suspects are a list without doubles, which is counted at the end. */
#define by_index right_by_index
#include "labs/06-whose-sample/solution.c"
#undef by_index

static uint32_t list[4096], length;

static void add(const struct leaving *l)
{
    for (uint32_t i = 0; i < length; i++)
        if (list[i] == l->tid)
            return;
    if (l->sampled && length < 4096)
        list[length++] = l->tid;
}

uint32_t by_index(const struct trace *t, const struct sample *s)
{
    for (uint32_t b = 0; b < t->batch_count; b++) {
        const struct batch *batch = &t->batches[b], *next = batch + 1;
        length = 0;
        if (batch->epoch < s->epoch || (batch->epoch == s->epoch && batch->index <= s->address))
            continue;
        if (batch->epoch > s->epoch)
            add(&t->switches[batch->first]);
        else {
            for (uint32_t i = b && batch[-1].epoch == batch->epoch ? 1 : 0; i < batch->count; i++)
                add(&t->switches[batch->first + i]);
            if (b + 1 == t->batch_count)
                return length ? AMBIGUOUS : UNKNOWN;
            add(&t->switches[next->first]);
        }
        return length == 0 ? UNKNOWN : length == 1 ? list[0] : AMBIGUOUS;
    }
    return UNKNOWN;
}
