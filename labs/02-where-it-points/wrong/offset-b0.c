/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 2; hint: no-eventing-ip. Reads EventingIP at B0H, also of format 1, whose records end there.
 */
#define lab_read_record right_read_record
#include "labs/02-where-it-points/solution.c"
#undef lab_read_record

struct lab_place lab_read_record(unsigned format, const uint8_t *record)
{
    struct lab_place place = right_read_record(format, record);
    if (format < 4)
        place.eventing_ip = ((const struct ds_pebs_fmt2 *)record)->eventing_ip;
    return place;
}
