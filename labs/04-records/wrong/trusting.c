/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 4; hint: damaged. Believes whatever size the head has. */
#define parse right
#include "labs/04-records/solution.c" /* all but a damaged head is right */
#undef parse

uint32_t parse(unsigned format, const uint8_t *bytes, uint32_t left, struct record *r)
{
    uint64_t head;
    const uint32_t size = right(format, bytes, left, r);
    if (size || format < 4 || left < sizeof head)
        return size;
    memcpy(&head, bytes, sizeof head);
    return ds_pebs_head_size(head) <= left ? ds_pebs_head_size(head) : 0;
}
