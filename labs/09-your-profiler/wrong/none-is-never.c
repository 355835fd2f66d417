/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 9; hint: zero. A function without samples gets error bars without width. */
#define lab_error_bars right_lab_error_bars
#include "solution.c" /* what is right */
#undef lab_error_bars

struct lab_interval lab_error_bars(uint32_t seen, uint32_t all)
{
    if (seen == 0 || seen == all)
        return (struct lab_interval){seen, seen};
    return right_lab_error_bars(seen, all);
}
