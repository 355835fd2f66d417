/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 9; hint: bias. The period is the round number that was asked for. */
#define lab_period right_lab_period
#include "solution.c" /* what is right */
#undef lab_period

uint64_t lab_period(uint64_t about, bool precise)
{
    (void)precise;
    return about;
}
