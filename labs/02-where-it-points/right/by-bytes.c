/* SPDX-License-Identifier: MIT */
/* A right program for lab 2: records are read byte by byte, at offsets. */
#define lab_read_record right_read_record
#include "labs/02-where-it-points/solution.c"
#undef lab_read_record

static uint64_t word(const uint8_t *at)
{
    uint64_t value = 0;
    for (unsigned i = 8; i--;)
        value = value << 8 | at[i];
    return value;
}

struct lab_place lab_read_record(unsigned format, const uint8_t *record)
{
    if (format < 2)
        return (struct lab_place){.rip = word(record + 8)};
    if (format < 4)
        return (struct lab_place){.eventing_ip = word(record + 0xB0), .rip = word(record + 8)};
    const uint32_t gpr = word(record) & 1 ? 64 : 32; /* behind the memory group, if there is one */
    return (struct lab_place){.eventing_ip = word(record + 8), .rip = word(record + gpr + 8)};
}
