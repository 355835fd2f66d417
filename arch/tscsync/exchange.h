/* SPDX-License-Identifier: MIT */
/*
 * Measures, when another CPU starts, how far its TSC is from this CPU's. Each CPU asks the other for its time. The
 * other reads its TSC after the question was sent and before the answer arrives, so each exchange bounds the offset on
 * both sides, by the time that it took. All exchanges together bound it by the fastest ones. Nothing is estimated: if
 * both TSCs run at the same rate, the offset lies between the bounds. Pure except for RDTSC: also compiled on the host.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arch_tsc_exchange { /* between two CPUs, and them alone */
    uint32_t asked, answered;
    uint64_t theirs;
};

struct arch_tsc_bounds { /* the other's TSC less this one's, in cycles */
    int64_t low, high;   /* low > high: no constant offset explains all answers */
    uint32_t rounds;     /* answers; 0: not measured, the bounds mean nothing */
};

/* The middle of the bounds, and how far from it they are. */
static inline int64_t arch_tsc_offset(const struct arch_tsc_bounds *b)
{
    return (int64_t)(((__int128)b->low + b->high) / 2);
}

static inline uint64_t arch_tsc_uncertainty(const struct arch_tsc_bounds *b)
{
    const __int128 width = (__int128)b->high - b->low;
    return (uint64_t)(((width < 0 ? -width : width) + 1) / 2);
}

/* The side that asks, interrupts off: for about `cycles`, ARCH_TSC_LEAST to ARCH_TSC_ROUNDS times. Gives up where an
 * answer takes `limit` cycles: what came until then counts. */
#define ARCH_TSC_LEAST  4u
#define ARCH_TSC_ROUNDS 256u
void arch_tsc_measure(struct arch_tsc_exchange *exchange, struct arch_tsc_bounds *bounds, uint64_t cycles,
                      uint64_t limit);
/* The side that answers, again and again: whatever has been asked. */
void arch_tsc_answer(struct arch_tsc_exchange *exchange);
