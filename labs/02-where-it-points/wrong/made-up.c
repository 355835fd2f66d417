/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 2; hint: no-eventing-ip. Format 1 gets an EventingIP by guessing: a byte before RIP. */
#define lab_read_record right_record
#include "labs/02-where-it-points/solution.c"
#undef lab_read_record

struct lab_place lab_read_record(unsigned format, const uint8_t *record)
{
    struct lab_place place = right_record(format, record);
    if (!place.eventing_ip)
        place.eventing_ip = place.rip - 1;
    return place;
}
