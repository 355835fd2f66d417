/* SPDX-License-Identifier: MIT */
/* A right program for lab 8: lab_scrub finds all words by their offsets, and the history from the record's end. */
#define lab_scrub right_scrub
#include "labs/08-rings-and-leaks/solution.c"
#undef lab_scrub

static uint64_t *at(uint8_t *record, uint32_t offset)
{
    return (uint64_t *)(record + offset);
}

bool lab_scrub(unsigned format, uint8_t *record)
{
    const uint32_t head = (uint32_t)*at(record, 0), size = *at(record, 0) >> 48;
    const uint32_t begin = 32 + (head & 1 ? 32 : 0) + (head & 2 ? 144 : 0) + (head & 4 ? 256 : 0);
    const uint32_t rip = format == 3 ? 8 : head & 1 ? 72 : 40;
    if (*at(record, format == 3 ? 0xB0 : 8) >> 63)
        return false;
    if ((format == 3 || head & 2) && *at(record, rip) >> 63)
        *at(record, rip) = 0;
    for (uint32_t entry = size; format == 4 && head & 8 && entry >= begin + 24; entry -= 24)
        if ((*at(record, entry - 24) | *at(record, entry - 16)) >> 63)
            for (uint32_t i = 8; i <= 24; i += 8)
                *at(record, entry - i) = 0;
    return true;
}
