/* SPDX-License-Identifier: MIT */
/*
 * The session clock: the performance counter, 10 MHz, from the TSC by one multiplication (as Windows 10 derives it), so
 * that the short record forms reach. units = ((tsc - base) * multiplier) >> 64 with a signed difference and a 128-bit
 * product; the three numbers are in the session stream, so TSC values in PEBS records convert exactly as the kernel
 * converted. A TSC behind the base (a processor whose counter lags) is a little before time 0.
 */
#pragma once

#include <stdint.h>

#define TRACE_CLOCK_HZ UINT64_C(10000000)

struct trace_clock {
    uint64_t tsc_hz;
    uint64_t base;       /* TSC value that is time 0 */
    uint64_t multiplier; /* floor(TRACE_CLOCK_HZ * 2^64 / tsc_hz), below 2^63: one signed multiplication */
};

/* 0, or -ERANGE where tsc_hz is not above 20 MHz (or is 2^63 and more). */
int trace_clock_init(struct trace_clock *clock, uint64_t tsc_hz, uint64_t base);

static inline int64_t trace_clock_units(const struct trace_clock *clock, uint64_t tsc)
{
    return (int64_t)((__int128)(int64_t)(tsc - clock->base) * (int64_t)clock->multiplier >> 64);
}
