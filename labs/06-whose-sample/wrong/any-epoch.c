/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 6; hint: epoch. Looks for the address in all epochs. */
#define by_index right
#include "labs/06-whose-sample/solution.c" /* all else is right */
#undef by_index

uint32_t by_index(const struct trace *t, const struct sample *s)
{
    struct sample any = *s;
    uint32_t b = 0;
    while (b < t->batch_count && t->batches[b].index <= s->address)
        b++;
    if (b < t->batch_count)
        any.epoch = t->batches[b].epoch;
    return right(t, &any);
}
