/* SPDX-License-Identifier: MIT */
/* A right program for lab 9: the error bars are rounded up once more, and reach 4 where none or all are seen. */
#define lab_error_bars right_error_bars
#include "labs/09-your-profiler/solution.c"
#undef lab_error_bars

struct lab_interval lab_error_bars(uint32_t seen, uint32_t all)
{
    const uint32_t more = seen && seen < all ? lab_square_root(UINT64_C(4) * seen * (all - seen) / all) + 2 : 4;
    struct lab_interval bars = {0, all};
    if (seen > more)
        bars.low = seen - more;
    if (all - seen > more)
        bars.high = seen + more;
    return bars;
}
