/* SPDX-License-Identifier: MIT */
/* Ordinary spin locks, while locks are traced: kernel/lock/spinlock.h calls these then. */
#include "kernel/lock/spinlock.h"

#include "kernel/locks/lock_trace.h"
#include "trace/wire/spinlock.h"

void kspin_lock_traced(struct kspinlock *lock)
{
    struct klock_trace_query query = klock_trace_query();
    uint32_t spins = kspin_take(lock, arch_cpu_index() + 1);
    klock_trace_acquired(lock, SPINLOCK_ORDINARY, &query, spins);
}

void kspin_unlock_traced(struct kspinlock *lock)
{
    uint64_t tsc = arch_rdtsc();
    __atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
    klock_trace_released(lock, tsc, __builtin_return_address(0));
}
