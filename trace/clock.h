/* SPDX-License-Identifier: MIT */
/*
 * Session clocks, computed from the TSC with at most one multiplication:
 *
 *   1 performance counter: 10 MHz (as Windows 10 derives it), so that the short record forms suffice
 *   2 system time: the same with another origin: units of 100 ns since 1601-01-01, UTC
 *   3 CPU cycles: the TSC itself
 *
 * For 1 and 2: units = ((tsc - base) * multiplier >> 64) + origin, with a signed difference and a 128-bit product. The
 * session stream contains these numbers, so TSC values in PEBS records convert exactly as the kernel converts them. A
 * TSC before the base (of a processor whose counter lags) gives a time shortly before the origin.
 */
#pragma once

#include <stdint.h>

#define TRACE_CLOCK_HZ UINT64_C(10000000)

/* Numbers as in TRACE_LOGFILE_HEADER.ReservedFlags. */
enum trace_clock_type { TRACE_CLOCK_QPC = 1, TRACE_CLOCK_SYSTEM = 2, TRACE_CLOCK_TSC = 3 };
#define TRACE_CLOCK_TYPES 3u

struct trace_clock {
    uint64_t tsc_hz;
    uint64_t base;       /* TSC value that is time `origin`; not of TRACE_CLOCK_TSC */
    uint64_t multiplier; /* floor(TRACE_CLOCK_HZ * 2^64 / tsc_hz), below 2^63: one signed multiplication */
    int64_t origin;      /* TRACE_CLOCK_SYSTEM: of `base` in units of 100 ns since 1601; else 0 */
    uint32_t type;       /* enum trace_clock_type */
};

/* TRACE_CLOCK_QPC. 0, or -ERANGE where tsc_hz is not above 20 MHz (or is 2^63 and more). */
int trace_clock_init(struct trace_clock *clock, uint64_t tsc_hz, uint64_t base);

/* Clocks of all types over one TSC, by type - 1, and a timer tick in units of each. */
struct trace_clocks {
    struct trace_clock clock[TRACE_CLOCK_TYPES];
    uint64_t tick_units[TRACE_CLOCK_TYPES];
};

/* `filetime`: at TSC value `base`; `tick_us`: 1 and more. Errors as trace_clock_init. */
int trace_clocks_init(struct trace_clocks *clocks, uint64_t tsc_hz, uint64_t base, int64_t filetime, uint32_t tick_us);

/* Units since the base: of types 1 and 2, less the origin. */
static inline int64_t trace_clock_scale(const struct trace_clock *clock, uint64_t tsc)
{
    return (int64_t)((__int128)(int64_t)(tsc - clock->base) * (int64_t)clock->multiplier >> 64);
}

static inline int64_t trace_clock_units(const struct trace_clock *clock, uint64_t tsc)
{
    return clock->type == TRACE_CLOCK_TSC ? (int64_t)tsc : trace_clock_scale(clock, tsc) + clock->origin;
}

static inline uint64_t trace_clock_hz(const struct trace_clock *clock)
{
    return clock->type == TRACE_CLOCK_TSC ? clock->tsc_hz : TRACE_CLOCK_HZ;
}
