/* SPDX-License-Identifier: MIT */
/*
 * Spin lock: test and test-and-set, with its owner. It is taken only with interrupts off: if a holder were preempted,
 * the next thread on its CPU that takes the lock would spin for ever. A lock belongs to the CPU, not to the thread,
 * because the incoming thread of a switch releases the dispatcher lock.
 *
 * It is not a ticket lock: with more CPUs in QEMU than the host has cores, a queue hands the lock to CPUs that do not
 * run at the moment (five times slower with 4 CPUs on 2 cores).
 *
 * Locks are not part of the gate (kernel/gate.h): spinning and holding count as the thread's own code. If nobody traces
 * locks (kcpu.locktrace is NULL), tracing costs one predicted branch when a lock is taken and one when it is released.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "kernel/cpu.h"
#include "kernel/lib/panic.h"

struct kspinlock {
    uint32_t owner; /* CPU index + 1 of the holder, 0: free */
    const char *name;
};

#define KSPINLOCK(text)                                                                                                \
    {                                                                                                                  \
        .name = (text)                                                                                                 \
    }

/* PAUSEs before a lock counts as lost: seconds on any machine, far longer than any holder takes. */
#define KSPIN_LIMIT (UINT32_C(1) << 27)

/* One more query has found a lock taken. Panics at the last that is made. */
static inline void kspin_wait(uint32_t *spins, const char *name, uint32_t owner)
{
    if (__builtin_expect(++*spins == KSPIN_LIMIT, 0))
        kpanic("spinlock %s: CPU %u waits too long for CPU %d", name, arch_cpu_index(), (int)owner - 1);
    arch_pause();
}

/* Takes the lock without tracing. Returns how often the lock was found taken. */
static inline uint32_t kspin_take(struct kspinlock *lock, uint32_t me)
{
    uint32_t spins = 0, owner = 0;
    while (!__atomic_compare_exchange_n(&lock->owner, &owner, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        if (__builtin_expect(owner == me, 0))
            kpanic("spinlock %s: taken twice by CPU %u", lock->name, me - 1);
        do
            kspin_wait(&spins, lock->name, owner);
        while ((owner = __atomic_load_n(&lock->owner, __ATOMIC_RELAXED)) != 0);
    }
    return spins;
}

/* Called instead if kcpu.locktrace is set. Weak: whoever sets it defines them. */
__attribute__((weak)) void kspin_lock_traced(struct kspinlock *lock);
__attribute__((weak)) void kspin_unlock_traced(struct kspinlock *lock);

/* Interrupts off. Panics where this CPU holds the lock already, or the holder never lets go. */
static inline void kspin_lock(struct kspinlock *lock)
{
    const struct kcpu *cpu = kcpu_this();
    if (__builtin_expect(cpu->locktrace != NULL, 0))
        kspin_lock_traced(lock);
    else
        kspin_take(lock, cpu->arch.index + 1);
}

/* Always inline, as the trace names who calls kspin_unlock_traced. */
__attribute__((always_inline)) static inline void kspin_unlock(struct kspinlock *lock)
{
    const struct kcpu *cpu = kcpu_this();
    if (__builtin_expect(lock->owner != cpu->arch.index + 1, 0))
        kpanic("spinlock %s: released by CPU %u, owned by CPU %d", lock->name, cpu->arch.index, (int)lock->owner - 1);
    if (__builtin_expect(cpu->locktrace != NULL, 0))
        kspin_unlock_traced(lock);
    else
        __atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
}

/* True where this CPU holds the lock. */
static inline bool kspin_held(const struct kspinlock *lock)
{
    return __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == arch_cpu_index() + 1;
}

/* Any interrupt state; returns what kspin_unlock_irqrestore wants back. */
static inline bool kspin_lock_irqsave(struct kspinlock *lock)
{
    bool on = arch_irq_save();
    kspin_lock(lock);
    return on;
}

__attribute__((always_inline)) static inline void kspin_unlock_irqrestore(struct kspinlock *lock, bool on)
{
    kspin_unlock(lock);
    arch_irq_restore(on);
}
