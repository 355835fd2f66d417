/* SPDX-License-Identifier: MIT */
/* Computes frequencies from measurements. A measured frequency is an interval, not a number: each clock edge is only
 * known to lie between two reads of the TSC. Pure: also compiled on the host. */
#pragma once

#include <stdint.h>

#define ARCH_CLOCK_PPM 20u /* what quartz oscillators are specified to, at best */

struct arch_interval {
    uint64_t low, high; /* Hz, both inclusive */
};

/* The roundest frequency (the multiple of the largest power of ten) in `in`, which is first widened to
 * ARCH_CLOCK_PPM on both sides of its middle. */
uint64_t arch_roundest(struct arch_interval in);

/* The frequency numerator / denominator (not 0) times the core crystal clock, for the one of Intel's crystals that puts
 * it inside `measured`, widened in the same way. 0: none does. */
uint64_t arch_by_crystal(uint32_t numerator, uint32_t denominator, struct arch_interval measured);
