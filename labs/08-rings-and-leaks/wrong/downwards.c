/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 8; hint: reset. The loop over the LBR entries goes down in memory, and clears what it meets.
 */
#define lab_scrub right_scrub
#include "labs/08-rings-and-leaks/solution.c"
#undef lab_scrub

bool lab_scrub(unsigned format, uint8_t *record)
{
    const bool shown = right_scrub(format, record);
    for (uint64_t *word = (uint64_t *)record - 1; format == 4; word--)
        if (kernel(*word))
            *word = 0;
    return shown;
}
