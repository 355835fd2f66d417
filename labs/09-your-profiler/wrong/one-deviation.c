/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 9; hint: narrow. One standard deviation: two of three error bars contain the truth. */
#define lab_error_bars right_lab_error_bars
#include "solution.c" /* what is right */
#undef lab_error_bars

struct lab_interval lab_error_bars(uint32_t seen, uint32_t all)
{
    const uint32_t half = seen && seen < all ? lab_square_root((uint64_t)seen * (all - seen) / all) : 3;
    return (struct lab_interval){seen > half ? seen - half : 0, all - seen > half ? seen + half : all};
}
