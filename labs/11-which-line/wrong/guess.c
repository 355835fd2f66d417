/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: unknown. A code that the table does not have is taken for memory. */
#define lab_read_record right_lab_read_record
#include "solution.c" /* what is right */
#undef lab_read_record

void lab_read_record(unsigned format, const uint8_t *record, unsigned loads, unsigned stores, struct lab_access *access)
{
    right_lab_read_record(format, record, loads, stores, access);
    if (access->load && access->source == LAB_UNKNOWN)
        access->source = LAB_MEMORY;
}
