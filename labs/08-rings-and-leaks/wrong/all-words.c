/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 8; hint: own. Every word that looks like an address of the kernel is cleared. */
#define lab_scrub right_scrub
#include "labs/08-rings-and-leaks/solution.c"
#undef lab_scrub

bool lab_scrub(unsigned format, uint8_t *record)
{
    const bool shown = right_scrub(format, record);
    const uint32_t bytes = format < 4 ? sizeof(struct ds_pebs_fmt3) : ds_pebs_head_size(*(const uint64_t *)record);
    for (uint64_t *word = (uint64_t *)record; shown && word < (uint64_t *)(record + bytes); word++)
        if (*word >> 63)
            *word = 0;
    return shown;
}
