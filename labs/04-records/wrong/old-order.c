/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 4; hint: registers. Copies the registers of formats 1 to 3 in the order in which they lie. */
#define parse right
#include "labs/04-records/solution.c" /* all but the order is right */
#undef parse

uint32_t parse(unsigned format, const uint8_t *bytes, uint32_t left, struct record *r)
{
    const uint32_t size = right(format, bytes, left, r);
    if (size && format < 4)
        memcpy(r->gpr, bytes + offsetof(struct ds_pebs_fmt0, rax), 8 * sizeof r->gpr[0]);
    return size;
}
