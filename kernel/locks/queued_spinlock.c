/* SPDX-License-Identifier: MIT */
#include "kernel/locks/queued_spinlock.h"

#include "kernel/locks/lock_trace.h"
#include "trace/wire/spinlock.h"

static uint32_t take(struct kqueued_spinlock *lock, struct kqueued_place *place)
{
    uint32_t spins = 0;
    *place = (struct kqueued_place){.lock = lock, .owner = arch_cpu_index() + 1, .waiting = 1};
    struct kqueued_place *before = __atomic_exchange_n(&lock->tail, place, __ATOMIC_ACQ_REL);
    if (!before)
        return 0;
    uint32_t owner = before->owner; /* it cannot go before it knows us */
    __atomic_store_n(&before->next, place, __ATOMIC_RELEASE);
    do
        kspin_wait(&spins, lock->name, owner);
    while (__atomic_load_n(&place->waiting, __ATOMIC_ACQUIRE));
    return spins;
}

static void give(struct kqueued_place *place)
{
    struct kqueued_place *next = __atomic_load_n(&place->next, __ATOMIC_ACQUIRE), *last = place;
    if (!next &&
        __atomic_compare_exchange_n(&place->lock->tail, &last, NULL, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        return;
    for (uint32_t spins = 0; !next; next = __atomic_load_n(&place->next, __ATOMIC_ACQUIRE))
        kspin_wait(&spins, place->lock->name, last->owner); /* it is in the queue, and about to say so */
    __atomic_store_n(&next->waiting, 0, __ATOMIC_RELEASE);
}

void kqueued_lock(struct kqueued_spinlock *lock, struct kqueued_place *place)
{
    if (__builtin_expect(kcpu_this()->locktrace == NULL, 1)) {
        take(lock, place);
        return;
    }
    struct klock_trace_query query = klock_trace_query();
    uint32_t spins = take(lock, place);
    klock_trace_acquired(lock, SPINLOCK_QUEUED, &query, spins);
}

void kqueued_unlock(struct kqueued_place *place)
{
    struct kqueued_spinlock *lock = place->lock;
    const struct kcpu *cpu = kcpu_this();
    if (__builtin_expect(place->owner != cpu->arch.index + 1, 0))
        kpanic("spinlock %s: released by CPU %u, owned by CPU %d", lock->name, cpu->arch.index, (int)place->owner - 1);
    if (__builtin_expect(cpu->locktrace == NULL, 1)) {
        give(place);
        return;
    }
    uint64_t tsc = arch_rdtsc();
    give(place);
    klock_trace_released(lock, tsc, __builtin_return_address(0));
}
