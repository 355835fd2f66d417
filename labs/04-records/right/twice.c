/* SPDX-License-Identifier: MIT */
/* A right program for lab 4: a record is parsed into memory of its own, and copied if it is whole. */
#define parse right_parse
#include "labs/04-records/solution.c"
#undef parse

uint32_t parse(unsigned format, const uint8_t *bytes, uint32_t left, struct record *r)
{
    static struct record mine;
    memset(&mine, 0, sizeof mine);
    const uint32_t size = right_parse(format, bytes, left, &mine);
    if (size)
        *r = mine;
    return size;
}
