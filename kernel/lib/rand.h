/* SPDX-License-Identifier: MIT */
/* Seeded random numbers (Vigna's SplitMix64): equal seeds give equal runs. Not for secrets. Pure. */
#pragma once

#include <stdint.h>

struct krand {
    uint64_t state;
};

static inline void krand_init(struct krand *r, uint64_t seed)
{
    r->state = seed;
}

static inline uint64_t krand_next(struct krand *r)
{
    uint64_t z = r->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* 0 .. n - 1, by multiplication: no division in stepped code. */
static inline uint32_t krand_below(struct krand *r, uint32_t n)
{
    return (uint32_t)((krand_next(r) >> 32) * n >> 32);
}
