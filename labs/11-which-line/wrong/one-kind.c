/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 11; hint: kind. A record is of a load or of a store: not of both. */
#define lab_read_record right_lab_read_record
#include "solution.c" /* what is right */
#undef lab_read_record

void lab_read_record(unsigned format, const uint8_t *record, unsigned loads, unsigned stores, struct lab_access *access)
{
    right_lab_read_record(format, record, loads, stores, access);
    access->store &= !access->load;
}
