/* SPDX-License-Identifier: MIT */
/* A right program for lab 9: the greatest common divisor with each loop decides on a period. */
#define lab_period right_period
#include "labs/09-your-profiler/solution.c"
#undef lab_period

static uint64_t divisor(uint64_t a, uint64_t b)
{
    return b ? divisor(b, a % b) : a;
}

uint64_t lab_period(uint64_t about, bool precise)
{
    uint64_t period = about + 1;
    for (uint64_t n = 2; n <= 64; n++)
        if (divisor(period + !precise, n) != 1) {
            period++;
            n = 1;
        }
    return period;
}
