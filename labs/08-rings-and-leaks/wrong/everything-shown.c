/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 8; hint: kernel-record. Only addresses are hidden; records of the kernel are shown. */
#define lab_scrub right_scrub
#include "labs/08-rings-and-leaks/solution.c"
#undef lab_scrub

bool lab_scrub(unsigned format, uint8_t *record)
{
    (void)right_scrub(format, record);
    return true;
}
