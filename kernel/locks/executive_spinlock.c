/* SPDX-License-Identifier: MIT */
#include "kernel/locks/executive_spinlock.h"

#include "kernel/locks/lock_trace.h"
#include "trace/wire/spinlock.h"

static bool exchange(struct kexecutive_spinlock *lock, uint32_t old, uint32_t new)
{
    return __atomic_compare_exchange_n(&lock->state, &old, new, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static uint32_t state_of(const struct kexecutive_spinlock *lock)
{
    return __atomic_load_n(&lock->state, __ATOMIC_RELAXED);
}

/* The CPU it waits for, as kspin_wait's message has it: of those that share it, nobody knows which. */
static void wait(const struct kexecutive_spinlock *lock, uint32_t *spins)
{
    kspin_wait(spins, lock->name, __atomic_load_n(&lock->owner, __ATOMIC_RELAXED));
}

static uint32_t take_shared(struct kexecutive_spinlock *lock)
{
    uint32_t spins = 0;
    for (uint32_t s; (s = state_of(lock)) & KEXECUTIVE_EXCLUSIVE || !exchange(lock, s, s + 1);)
        wait(lock, &spins);
    return spins;
}

static uint32_t take_exclusive(struct kexecutive_spinlock *lock)
{
    uint32_t spins = 0;
    for (uint32_t s; (s = state_of(lock)) & KEXECUTIVE_EXCLUSIVE || !exchange(lock, s, s | KEXECUTIVE_EXCLUSIVE);)
        wait(lock, &spins);
    while (__atomic_load_n(&lock->state, __ATOMIC_ACQUIRE) != KEXECUTIVE_EXCLUSIVE)
        wait(lock, &spins);
    __atomic_store_n(&lock->owner, arch_cpu_index() + 1, __ATOMIC_RELAXED);
    return spins;
}

void kexecutive_lock_shared(struct kexecutive_spinlock *lock)
{
    if (__builtin_expect(kcpu_this()->locktrace == NULL, 1)) {
        take_shared(lock);
        return;
    }
    struct klock_trace_query query = klock_trace_query();
    uint32_t spins = take_shared(lock);
    klock_trace_acquired(lock, SPINLOCK_SHARED, &query, spins);
}

void kexecutive_lock_exclusive(struct kexecutive_spinlock *lock)
{
    if (__builtin_expect(kcpu_this()->locktrace == NULL, 1)) {
        take_exclusive(lock);
        return;
    }
    struct klock_trace_query query = klock_trace_query();
    uint32_t spins = take_exclusive(lock);
    klock_trace_acquired(lock, SPINLOCK_EXCLUSIVE, &query, spins);
}

bool kexecutive_try_convert(struct kexecutive_spinlock *lock)
{
    if (!exchange(lock, 1, KEXECUTIVE_EXCLUSIVE))
        return false;
    __atomic_store_n(&lock->owner, arch_cpu_index() + 1, __ATOMIC_RELAXED);
    if (__builtin_expect(kcpu_this()->locktrace != NULL, 0))
        klock_trace_converted(lock);
    return true;
}

void kexecutive_unlock_shared(struct kexecutive_spinlock *lock)
{
    if (__builtin_expect((state_of(lock) & ~KEXECUTIVE_EXCLUSIVE) == 0, 0))
        kpanic("spinlock %s: released by CPU %u, but nobody shares it", lock->name, arch_cpu_index());
    if (__builtin_expect(kcpu_this()->locktrace == NULL, 1)) {
        __atomic_fetch_sub(&lock->state, 1, __ATOMIC_RELEASE);
        return;
    }
    uint64_t tsc = arch_rdtsc();
    __atomic_fetch_sub(&lock->state, 1, __ATOMIC_RELEASE);
    klock_trace_released(lock, tsc, __builtin_return_address(0));
}

static void give_exclusive(struct kexecutive_spinlock *lock)
{
    __atomic_store_n(&lock->owner, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&lock->state, 0, __ATOMIC_RELEASE);
}

void kexecutive_unlock_exclusive(struct kexecutive_spinlock *lock)
{
    const struct kcpu *cpu = kcpu_this();
    if (__builtin_expect(lock->owner != cpu->arch.index + 1, 0))
        kpanic("spinlock %s: released by CPU %u, owned by CPU %d", lock->name, cpu->arch.index, (int)lock->owner - 1);
    if (__builtin_expect(cpu->locktrace == NULL, 1)) {
        give_exclusive(lock);
        return;
    }
    uint64_t tsc = arch_rdtsc();
    give_exclusive(lock);
    klock_trace_released(lock, tsc, __builtin_return_address(0));
}
