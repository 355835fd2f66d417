/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: source. The whole word is looked up, with the bits that say something else. */
#define lab_read_record right_lab_read_record
#include "solution.c" /* what is right */
#undef lab_read_record

void lab_read_record(unsigned format, const uint8_t *record, unsigned loads, unsigned stores, struct lab_access *access)
{
    const uint64_t *word = (const void *)record;
    const uint64_t source = format < 4 ? word[0xA0 / 8] : word[0x28 / 8];
    right_lab_read_record(format, record, loads, stores, access);
    if (access->load)
        access->source = source < 16 ? source_of(source) : LAB_UNKNOWN;
}
