/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 2; hint: rip-is-next. The address of the next instruction is taken for that of the event. */
#define lab_read_record right_record
#include "labs/02-where-it-points/solution.c"
#undef lab_read_record

struct lab_place lab_read_record(unsigned format, const uint8_t *record)
{
    struct lab_place place = right_record(format, record);
    place.eventing_ip = place.rip;
    return place;
}
