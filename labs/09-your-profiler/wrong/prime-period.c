/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 9; hint: apart. The period has no divisors, but records may be one more apart. */
#define lab_period right_lab_period
#include "solution.c" /* what is right */
#undef lab_period

uint64_t lab_period(uint64_t about, bool precise)
{
    (void)precise;
    while (!meets_all(about))
        about++;
    return about;
}
