/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 2; hint: groups. The GPR group is looked for right behind the basic group, always. */
#define lab_read_record right_record
#include "labs/02-where-it-points/solution.c"
#undef lab_read_record

struct lab_place lab_read_record(unsigned format, const uint8_t *record)
{
    struct lab_place place = right_record(format, record);
    if (format >= 4)
        place.rip = ((const struct ds_pebs_gpr *)(record + sizeof(struct ds_pebs_basic)))->rip;
    return place;
}
