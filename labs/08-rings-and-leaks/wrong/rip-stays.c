/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 8; hint: rip. EventingIP is in ring 3, so RIP is taken for harmless (format 3). */
#define lab_scrub right_scrub
#include "labs/08-rings-and-leaks/solution.c"
#undef lab_scrub

bool lab_scrub(unsigned format, uint8_t *record)
{
    struct ds_pebs_fmt0 *registers = (struct ds_pebs_fmt0 *)record;
    const uint64_t rip = registers->rip;
    const bool shown = right_scrub(format, record);
    registers->rip = rip;
    return shown;
}
