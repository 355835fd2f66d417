/* SPDX-License-Identifier: MIT */
/* A right program for lab 11: lab_read_record reads words by their offsets. */
#define lab_read_record right_read_record
#include "labs/11-which-line/solution.c"
#undef lab_read_record

void lab_read_record(unsigned format, const uint8_t *record, unsigned loads, unsigned stores, struct lab_access *access)
{
    const uint64_t *word = (const void *)record;
    const uint64_t *memory = format >= 4 ? word + 4 : word + 0x98 / 8;
    const uint64_t counters = format >= 4 ? word[2] : word[0x90 / 8];
    *access = (struct lab_access){.address = memory[0], .load = counters >> loads & 1, .store = counters >> stores & 1};
    if (!access->load)
        return;
    access->latency = (uint32_t)memory[2];
    access->source = source_of(memory[1]);
}
