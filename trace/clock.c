/* SPDX-License-Identifier: MIT */
/* The session clock's multiplier. */
#include "trace/clock.h"

#include "kernel/errno.h"

int trace_clock_init(struct trace_clock *clock, uint64_t tsc_hz, uint64_t base)
{
    if (tsc_hz <= 2 * TRACE_CLOCK_HZ || tsc_hz >> 63)
        return -ERANGE;
    /* Long division of TRACE_CLOCK_HZ * 2^64 by tsc_hz, bit by bit: a freestanding kernel has no 128-bit division. The
     * remainder stays below tsc_hz < 2^63, so that doubling it cannot overflow. */
    uint64_t remainder = TRACE_CLOCK_HZ, quotient = 0;
    for (unsigned bit = 0; bit < 64; bit++) {
        remainder <<= 1;
        quotient <<= 1;
        if (remainder >= tsc_hz) {
            remainder -= tsc_hz;
            quotient |= 1;
        }
    }
    *clock = (struct trace_clock){.tsc_hz = tsc_hz, .base = base, .multiplier = quotient};
    return 0;
}
