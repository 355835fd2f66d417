/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 4; hint: unknown. Adds up the groups that it knows, and takes the sum for the size. */
#define parse right
#include "labs/04-records/solution.c" /* all but the size is right */
#undef parse

uint32_t parse(unsigned format, const uint8_t *bytes, uint32_t left, struct record *r)
{
    const uint32_t size = right(format, bytes, left, r);
    uint64_t cfg;
    if (!size || format < 4)
        return size;
    memcpy(&cfg, bytes, sizeof cfg);
    const uint32_t values = (uint32_t)(__builtin_popcount(r->gp_mask) + __builtin_popcount(r->fixed_mask));
    return ds_pebs_adaptive_size((uint32_t)cfg) + 8 * values;
}
