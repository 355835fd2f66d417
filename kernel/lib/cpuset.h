/* SPDX-License-Identifier: MIT */
/* A set of CPUs, by their dense numbers. One that CPUs share needs a lock, but for the functions that are atomic. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/lib/limits.h"

#define KCPUSET_WORDS (MAX_CPUS / 64)
_Static_assert(MAX_CPUS % 64 == 0, "whole words");

struct kcpuset {
    uint64_t word[KCPUSET_WORDS]; /* bit i % 64 of word i / 64: CPU i */
};

static inline void kcpuset_add(struct kcpuset *set, uint32_t cpu)
{
    set->word[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

static inline void kcpuset_remove(struct kcpuset *set, uint32_t cpu)
{
    set->word[cpu / 64] &= ~(UINT64_C(1) << cpu % 64);
}

static inline bool kcpuset_has(const struct kcpuset *set, uint32_t cpu)
{
    return set->word[cpu / 64] >> cpu % 64 & 1;
}

static inline struct kcpuset kcpuset_of(uint32_t cpu)
{
    struct kcpuset set = {0};
    kcpuset_add(&set, cpu);
    return set;
}

/* What both have. */
static inline struct kcpuset kcpuset_common(const struct kcpuset *a, const struct kcpuset *b)
{
    struct kcpuset both;
    for (uint32_t i = 0; i < KCPUSET_WORDS; i++)
        both.word[i] = a->word[i] & b->word[i];
    return both;
}

/* The lowest CPU of the set that is not below `from`; MAX_CPUS: there is none. */
static inline uint32_t kcpuset_next(const struct kcpuset *set, uint32_t from)
{
    for (uint32_t i = from / 64; i < KCPUSET_WORDS; i++) {
        uint64_t left = set->word[i];
        if (i == from / 64)
            left &= ~UINT64_C(0) << from % 64;
        if (left)
            return i * 64 + (uint32_t)__builtin_ctzl(left);
    }
    return MAX_CPUS;
}

static inline bool kcpuset_empty(const struct kcpuset *set)
{
    return kcpuset_next(set, 0) == MAX_CPUS;
}

static inline void kcpuset_add_atomic(struct kcpuset *set, uint32_t cpu)
{
    __atomic_fetch_or(&set->word[cpu / 64], UINT64_C(1) << cpu % 64, __ATOMIC_RELEASE);
}

static inline bool kcpuset_has_atomic(const struct kcpuset *set, uint32_t cpu)
{
    return __atomic_load_n(&set->word[cpu / 64], __ATOMIC_ACQUIRE) >> cpu % 64 & 1;
}
