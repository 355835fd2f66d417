/* SPDX-License-Identifier: MIT */
#include "kernel/lock/executive_spinlock.h"

#include "kernel/lock/lock_trace.h"

static bool exchange(struct kexspinlock *lock, uint32_t old, uint32_t new)
{
    return __atomic_compare_exchange_n(&lock->state, &old, new, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static uint32_t state_of(const struct kexspinlock *lock)
{
    return __atomic_load_n(&lock->state, __ATOMIC_RELAXED);
}

/* The CPU it waits for, as kspin_wait's message has it: of those that share it, nobody knows which. */
static void wait(const struct kexspinlock *lock, uint32_t *spins)
{
    kspin_wait(spins, lock->name, __atomic_load_n(&lock->owner, __ATOMIC_RELAXED));
}

static uint32_t take_shared(struct kexspinlock *lock)
{
    uint32_t spins = 0;
    for (uint32_t s; (s = state_of(lock)) & KEXSPIN_EXCLUSIVE || !exchange(lock, s, s + 1);)
        wait(lock, &spins);
    return spins;
}

static uint32_t take_exclusive(struct kexspinlock *lock)
{
    uint32_t spins = 0;
    for (uint32_t s; (s = state_of(lock)) & KEXSPIN_EXCLUSIVE || !exchange(lock, s, s | KEXSPIN_EXCLUSIVE);)
        wait(lock, &spins);
    while (__atomic_load_n(&lock->state, __ATOMIC_ACQUIRE) != KEXSPIN_EXCLUSIVE)
        wait(lock, &spins);
    __atomic_store_n(&lock->owner, arch_cpu_index() + 1, __ATOMIC_RELAXED);
    return spins;
}

void kexspin_lock_shared(struct kexspinlock *lock)
{
    if (__builtin_expect(kcpu_this()->locktrace == NULL, 1)) {
        take_shared(lock);
        return;
    }
    struct klocktrace_query query = klocktrace_query();
    uint32_t spins = take_shared(lock);
    klocktrace_acquired(lock, SPINLOCK_SHARED, &query, spins);
}

void kexspin_lock_exclusive(struct kexspinlock *lock)
{
    if (__builtin_expect(kcpu_this()->locktrace == NULL, 1)) {
        take_exclusive(lock);
        return;
    }
    struct klocktrace_query query = klocktrace_query();
    uint32_t spins = take_exclusive(lock);
    klocktrace_acquired(lock, SPINLOCK_EXCLUSIVE, &query, spins);
}

bool kexspin_try_convert(struct kexspinlock *lock)
{
    if (!exchange(lock, 1, KEXSPIN_EXCLUSIVE))
        return false;
    __atomic_store_n(&lock->owner, arch_cpu_index() + 1, __ATOMIC_RELAXED);
    if (__builtin_expect(kcpu_this()->locktrace != NULL, 0))
        klocktrace_converted(lock);
    return true;
}

void kexspin_unlock_shared(struct kexspinlock *lock)
{
    if (__builtin_expect((state_of(lock) & ~KEXSPIN_EXCLUSIVE) == 0, 0))
        kpanic("spinlock %s: released by CPU %u, but nobody shares it", lock->name, arch_cpu_index());
    if (__builtin_expect(kcpu_this()->locktrace == NULL, 1)) {
        __atomic_fetch_sub(&lock->state, 1, __ATOMIC_RELEASE);
        return;
    }
    uint64_t tsc = arch_rdtsc();
    __atomic_fetch_sub(&lock->state, 1, __ATOMIC_RELEASE);
    klocktrace_released(lock, tsc, __builtin_return_address(0));
}

static void give_exclusive(struct kexspinlock *lock)
{
    __atomic_store_n(&lock->owner, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&lock->state, 0, __ATOMIC_RELEASE);
}

void kexspin_unlock_exclusive(struct kexspinlock *lock)
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
    klocktrace_released(lock, tsc, __builtin_return_address(0));
}
