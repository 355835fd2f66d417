/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 9; hint: wide. The deviation of a rare event, also for functions with most of the samples. */
#define lab_error_bars right_lab_error_bars
#include "solution.c" /* what is right */
#undef lab_error_bars

struct lab_interval lab_error_bars(uint32_t seen, uint32_t all)
{
    const uint32_t half = seen ? 2 * lab_square_root(seen) + 1 : 3;
    return (struct lab_interval){seen > half ? seen - half : 0, all - seen > half ? seen + half : all};
}
