/* SPDX-License-Identifier: MIT */
/* A right program for lab 8: nothing is left of a record that the program may not see. */
#define lab_scrub right_scrub
#include "labs/08-rings-and-leaks/solution.c"
#undef lab_scrub

bool lab_scrub(unsigned format, uint8_t *record)
{
    const uint32_t bytes = format < 4 ? ds_pebs_fixed_size(format) : ds_pebs_head_size(*(const uint64_t *)record);
    const bool shown = right_scrub(format, record);
    for (uint32_t i = 0; !shown && i < bytes; i++)
        record[i] = 0;
    return shown;
}
