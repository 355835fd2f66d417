/* SPDX-License-Identifier: MIT */
/* Which releases of spin locks become events (0529H): the sampling of the NT Kernel Logger. Pure: the kernel uses it,
 * and the host tool repeats it with the truth. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/wire/format.h"
#include "trace/wire/spinlock.h"

/* Locks a CPU may hold, and have traced, at once. */
#define TRACE_SPINLOCK_DEPTH 8u

/* EVENT_TRACE_SPINLOCK_INFORMATION, by its names. Defaults are the least values Windows takes. */
struct trace_spinlock_sampling {
    uint32_t spin_threshold;
    uint32_t acquire_sample_rate;
    uint32_t contention_sample_rate;
    uint32_t hold_threshold; /* TSC cycles; 0: nobody minds */
    bool every;              /* Cairn's own: every release, whatever the others say */
};

#define TRACE_SPINLOCK_SPIN_THRESHOLD         1u
#define TRACE_SPINLOCK_ACQUIRE_SAMPLE_RATE    1000u
#define TRACE_SPINLOCK_CONTENTION_SAMPLE_RATE 1u
#define TRACE_SPINLOCK_HOLD_THRESHOLD         1000000u

/* Whether no value is below its minimum. */
bool trace_spinlock_sampling_valid(const struct trace_spinlock_sampling *s);

/* How the configuration reads in 0F4BH and 0F4CH, where the rates stand in the other order. */
struct perfinfo_spinlock_config trace_spinlock_config(const struct trace_spinlock_sampling *s);

/* Acquisitions of one CPU since its locks are traced, nested ones included. */
struct trace_spinlock_counts {
    uint64_t contended, uncontended;
};

static inline void trace_spinlock_count(struct trace_spinlock_counts *counts, uint32_t spins)
{
    counts->contended += spins != 0;
    counts->uncontended += spins == 0;
}

/* Why a release is written: any of these. */
enum trace_spinlock_rule {
    TRACE_SPINLOCK_HOLD = 1,       /* it was held for more than hold_threshold */
    TRACE_SPINLOCK_CONTENTION = 2, /* it took spin_threshold spins, and the contended count is a multiple */
    TRACE_SPINLOCK_ACQUIRE = 4,    /* it took none, and the uncontended count is a multiple */
    TRACE_SPINLOCK_EVERY = 8,
};

/* The rules that want the release of a lock, 0: it is sampled out. `spins`: of its acquisition; `held`: TSC cycles;
 * `counts` as they are at the release. */
unsigned trace_spinlock_rules(const struct trace_spinlock_sampling *s, const struct trace_spinlock_counts *counts,
                              uint32_t spins, uint64_t held);

/* Cycles between two TSC values of one CPU in 32 bits, all ones for that or more. */
static inline uint32_t trace_spinlock_cycles(uint64_t from, uint64_t to)
{
    return to - from > UINT32_MAX ? UINT32_MAX : (uint32_t)(to - from);
}
