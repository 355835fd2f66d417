/* SPDX-License-Identifier: MIT */
/*
 * Traces spin locks. Each CPU keeps account of the locks that it holds. When it releases one, it writes an event
 * (0529H) if the sampling selects it (trace/locks/lock_sampling.h). A CPU's kcpu.locktrace is set while a session that
 * wants these events runs there, between two acknowledgements. Only then does the lock code call this code. A lock that
 * was taken before writes no event, nor does a ninth lock while eight are held; the latter is counted as untracked.
 *
 * All of it runs on the CPU concerned with interrupts off and uses only data of that CPU. It takes no lock, so the
 * scheduler's locks are traced like any other, and nothing recurses. A thread may call the lock code outside the gate,
 * while it is being counted. Counting pauses while truth or events are written, because a #DB of its stepping would
 * write, too.
 */
#pragma once

#include <stdint.h>

#include "kernel/cpu.h"
#include "trace/locks/lock_sampling.h"
#include "trace/wire/spinlock.h"

struct klock_trace_query { /* what must be known from before the first query */
    uint64_t tsc;
    uint32_t interrupts;
};

static inline struct klock_trace_query klock_trace_query(void)
{
    return (struct klock_trace_query){.tsc = arch_rdtsc(), .interrupts = kcpu_this()->interrupts};
}

/* ---- for the lock code, where kcpu.locktrace is set */
/* This CPU has just got `lock`, after `spins` queries that found it taken. */
void klock_trace_acquired(const void *lock, enum spinlock_mode mode, const struct klock_trace_query *query,
                          uint32_t spins);
/* It shared the executive lock `lock` and has it alone now: the same hold goes on, in another mode. */
void klock_trace_converted(const void *lock);
/* It let go of `lock` at `tsc`; `caller`: where the release returns to. */
void klock_trace_released(const void *lock, uint64_t tsc, const void *caller);

/* ---- for the sessions, on every CPU */
/* 0F4BH or 0F4CH (`hook_id`) to those of `sessions` (bit i: session i + 1) that run here and want spin locks. */
void klock_trace_rundown(uint32_t sessions, uint16_t hook_id);
/* To be called after sessions have started, changed or stopped here: tracing begins anew or ends where it is due. */
void klock_trace_update(void);

/* Which releases become events from now on, on every CPU and in all sessions that want them; those are told by another
 * 0F4BH. `sampling` is valid. Thread context, no spinlock held. */
void klock_trace_configure(struct trace_spinlock_sampling sampling);
struct trace_spinlock_sampling klock_trace_sampling(void);
/* Of all CPUs, before any session starts; any CPU. */
void klock_trace_init(const struct trace_spinlock_sampling *sampling);

struct klock_trace_counts {
    uint64_t contended, uncontended; /* acquisitions traced */
    uint64_t released;               /* of those tracked */
    uint64_t events;                 /* the sampling wanted */
    uint64_t untracked;              /* acquisitions beyond TRACE_SPINLOCK_DEPTH */
};
/* Since the boot; any CPU, once `cpu` traces no more. */
struct klock_trace_counts klock_trace_counts(uint32_t cpu);
