/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 4; hint: values. Stores the values of counters side by side, whatever bits the mask has. */
#define parse right
#include "labs/04-records/solution.c" /* all but the places of values is right */
#undef parse

uint32_t parse(unsigned format, const uint8_t *bytes, uint32_t left, struct record *r)
{
    const uint32_t size = right(format, bytes, left, r);
    unsigned n = 0;
    for (unsigned i = 0; i < 32; i++)
        if (r->gp_mask >> i & 1)
            r->gp[n++] = r->gp[i];
    while (n < 32)
        r->gp[n++] = 0;
    return size;
}
