/* SPDX-License-Identifier: MIT */
/* A right program for lab 4: bytes are copied to an aligned place first, and the record is parsed there. */
#define parse right_parse
#include "labs/04-records/solution.c"
#undef parse

uint32_t parse(unsigned format, const uint8_t *bytes, uint32_t left, struct record *r)
{
    static uint64_t aligned[16384];
    const uint32_t n = left < sizeof aligned ? left : (uint32_t)sizeof aligned;
    memcpy(aligned, bytes, n);
    return right_parse(format, (const uint8_t *)aligned, n, r);
}
