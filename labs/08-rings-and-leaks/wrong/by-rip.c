/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 8; hint: withheld. RIP decides whose a record is. */
#define lab_scrub right_scrub
#include "labs/08-rings-and-leaks/solution.c"
#undef lab_scrub

bool lab_scrub(unsigned format, uint8_t *record)
{
    const uint64_t rip = format < 4 ? ((const struct ds_pebs_fmt0 *)record)->rip
                                    : ((const struct ds_pebs_gpr *)(record + sizeof(struct ds_pebs_basic)))->rip;
    return !(rip >> 63) && right_scrub(format, record);
}
