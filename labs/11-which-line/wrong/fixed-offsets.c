/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: address. The memory group lies behind the registers, as in format 3. */
#define lab_read_record right_lab_read_record
#include "solution.c" /* what is right */
#undef lab_read_record

void lab_read_record(unsigned format, const uint8_t *record, unsigned loads, unsigned stores, struct lab_access *access)
{
    const uint64_t *word = (const void *)record;
    right_lab_read_record(format, record, loads, stores, access);
    access->address = word[0x98 / 8];
}
