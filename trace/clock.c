/* SPDX-License-Identifier: MIT */
/* Computes the numbers of the session clocks: see clock.h. */
#include "trace/clock.h"

#include "kernel/lib/errno.h"

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
    *clock = (struct trace_clock){.tsc_hz = tsc_hz, .base = base, .multiplier = quotient, .type = TRACE_CLOCK_QPC};
    return 0;
}

int trace_clocks_init(struct trace_clocks *clocks, uint64_t tsc_hz, uint64_t base, int64_t filetime, uint32_t tick_us)
{
    struct trace_clock clock;
    int e = trace_clock_init(&clock, tsc_hz, base);
    if (e)
        return e;
    for (unsigned i = 0; i < TRACE_CLOCK_TYPES; i++) {
        struct trace_clock *c = &clocks->clock[i];
        *c = clock;
        c->type = i + 1;
        c->origin = c->type == TRACE_CLOCK_SYSTEM ? filetime : 0;
        /* Whole seconds apart, so that nothing overflows. */
        uint64_t hz = trace_clock_hz(c);
        clocks->tick_units[i] = hz / 1000000 * tick_us + hz % 1000000 * tick_us / 1000000;
    }
    return 0;
}
