/* SPDX-License-Identifier: MIT */
/*
 * Ticket spinlock: first come, first served. Only taken with interrupts off: a holder that could be preempted would leave
 * its CPU's next taker spinning for ever. Belongs to the CPU, not to the thread, so that the dispatcher lock may be
 * released by the thread that comes in after a switch.
 *
 * Not part of the gate (kernel/gate.h): spinning and holding count as the thread's own code.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "kernel/panic.h"

struct kspinlock {
    uint32_t next;    /* ticket the next taker draws */
    uint32_t serving; /* ticket that holds the lock */
    uint32_t owner;   /* CPU index + 1 of the holder, 0: free */
    const char *name;
};

#define KSPINLOCK(text) { .name = (text) }

/* PAUSEs before a lock counts as lost: seconds on any machine, far longer than any holder takes. */
#define KSPIN_LIMIT (UINT32_C(1) << 27)

/* Interrupts off. Panics where this CPU holds the lock already, or the holder never lets go. */
static inline void kspin_lock(struct kspinlock *lock)
{
    uint32_t me = arch_cpu_index() + 1;
    if (__builtin_expect(__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == me, 0))
        kpanic("spinlock %s: taken twice by CPU %u", lock->name, me - 1);
    uint32_t ticket = __atomic_fetch_add(&lock->next, 1, __ATOMIC_RELAXED);
    for (uint32_t spins = 0; __atomic_load_n(&lock->serving, __ATOMIC_ACQUIRE) != ticket; spins++) {
        arch_pause();
        if (__builtin_expect(spins == KSPIN_LIMIT, 0))
            kpanic("spinlock %s: CPU %u waits too long for CPU %d", lock->name, me - 1, (int)lock->owner - 1);
    }
    __atomic_store_n(&lock->owner, me, __ATOMIC_RELAXED);
}

static inline void kspin_unlock(struct kspinlock *lock)
{
    if (__builtin_expect(lock->owner != arch_cpu_index() + 1, 0))
        kpanic("spinlock %s: released by CPU %u, owned by CPU %d", lock->name, arch_cpu_index(), (int)lock->owner - 1);
    __atomic_store_n(&lock->owner, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&lock->serving, lock->serving + 1, __ATOMIC_RELEASE);
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
