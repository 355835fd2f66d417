/* SPDX-License-Identifier: MIT */
/* A right program for lab 4: only the bytes that the head claims are looked at, with zeros behind them. */
#define parse right_parse
#include "labs/04-records/solution.c"
#undef parse

uint32_t parse(unsigned format, const uint8_t *bytes, uint32_t left, struct record *r)
{
    static uint8_t padded[65536 + 64];
    uint64_t head = 0;
    uint32_t size = ds_pebs_fixed_size(format);
    if (format >= 4) {
        if (left < 8)
            return 0;
        memcpy(&head, bytes, 8);
        size = ds_pebs_head_size(head);
    }
    if (size > left)
        return 0;
    memset(padded, 0, sizeof padded);
    memcpy(padded, bytes, size);
    return right_parse(format, padded, size, r);
}
