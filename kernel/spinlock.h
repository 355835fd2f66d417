/* SPDX-License-Identifier: MIT */
/*
 * Spinlock: test and test-and-set, with its owner. Only taken with interrupts off: a holder that could be preempted
 * would leave its CPU's next taker spinning for ever. Belongs to the CPU, not to the thread, so that the dispatcher
 * lock may be released by the thread that comes in after a switch.
 *
 * Not a ticket lock on purpose: where there are fewer host cores than CPUs (QEMU), a queue hands the lock to CPUs that
 * do not run just now, and all wait for the host's scheduler: five times slower with 4 CPUs on 2 cores.
 *
 * Not part of the gate (kernel/gate.h): spinning and holding count as the thread's own code.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "kernel/panic.h"

struct kspinlock {
    uint32_t owner; /* CPU index + 1 of the holder, 0: free */
    const char *name;
};

#define KSPINLOCK(text) { .name = (text) }

/* PAUSEs before a lock counts as lost: seconds on any machine, far longer than any holder takes. */
#define KSPIN_LIMIT (UINT32_C(1) << 27)

/* Interrupts off. Panics where this CPU holds the lock already, or the holder never lets go. */
static inline void kspin_lock(struct kspinlock *lock)
{
    uint32_t me = arch_cpu_index() + 1, free = 0;
    for (uint32_t spins = 0; !__atomic_compare_exchange_n(&lock->owner, &free, me, false, __ATOMIC_ACQUIRE,
                                                          __ATOMIC_RELAXED); free = 0) {
        if (__builtin_expect(free == me, 0))
            kpanic("spinlock %s: taken twice by CPU %u", lock->name, me - 1);
        while (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED)) {
            if (__builtin_expect(++spins == KSPIN_LIMIT, 0))
                kpanic("spinlock %s: CPU %u waits too long for CPU %d", lock->name, me - 1, (int)lock->owner - 1);
            arch_pause();
        }
    }
}

static inline void kspin_unlock(struct kspinlock *lock)
{
    if (__builtin_expect(lock->owner != arch_cpu_index() + 1, 0))
        kpanic("spinlock %s: released by CPU %u, owned by CPU %d", lock->name, arch_cpu_index(), (int)lock->owner - 1);
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

static inline void kspin_unlock_irqrestore(struct kspinlock *lock, bool on)
{
    kspin_unlock(lock);
    arch_irq_restore(on);
}
