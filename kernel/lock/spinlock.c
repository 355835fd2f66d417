/* SPDX-License-Identifier: MIT */
#include "kernel/lock/spinlock.h"

__attribute__((weak)) void kspin_lock_traced(struct kspinlock *lock)
{
    kspin_take(lock, arch_cpu_index() + 1);
}

__attribute__((weak)) void kspin_unlock_traced(struct kspinlock *lock)
{
    __atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
}
