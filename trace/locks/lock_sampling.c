/* SPDX-License-Identifier: MIT */
#include "trace/locks/lock_sampling.h"
#include "trace/wire/spinlock.h"

bool trace_spinlock_sampling_valid(const struct trace_spinlock_sampling *s)
{
    return s->spin_threshold >= TRACE_SPINLOCK_SPIN_THRESHOLD &&
           s->acquire_sample_rate >= TRACE_SPINLOCK_ACQUIRE_SAMPLE_RATE &&
           s->contention_sample_rate >= TRACE_SPINLOCK_CONTENTION_SAMPLE_RATE &&
           (s->hold_threshold == 0 || s->hold_threshold >= TRACE_SPINLOCK_HOLD_THRESHOLD);
}

struct perfinfo_spinlock_config trace_spinlock_config(const struct trace_spinlock_sampling *s)
{
    return (struct perfinfo_spinlock_config){.spin_threshold = s->spin_threshold,
                                             .contention_sample_rate = s->contention_sample_rate,
                                             .acquire_sample_rate = s->acquire_sample_rate,
                                             .hold_threshold = s->hold_threshold};
}

static bool multiple(uint64_t count, uint32_t rate)
{
    return rate && count % rate == 0; /* 0: in a damaged log */
}

unsigned trace_spinlock_rules(const struct trace_spinlock_sampling *s, const struct trace_spinlock_counts *counts,
                              uint32_t spins, uint64_t held)
{
    unsigned rules = s->every ? TRACE_SPINLOCK_EVERY : 0;
    if (s->hold_threshold && held > s->hold_threshold)
        rules |= TRACE_SPINLOCK_HOLD;
    if (spins && spins >= s->spin_threshold && multiple(counts->contended, s->contention_sample_rate))
        rules |= TRACE_SPINLOCK_CONTENTION;
    if (!spins && multiple(counts->uncontended, s->acquire_sample_rate))
        rules |= TRACE_SPINLOCK_ACQUIRE;
    return rules;
}
