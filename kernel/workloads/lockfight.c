/* SPDX-License-Identifier: MIT */
/*
 * Lock fight: too many threads want the same mutex. Its holder sometimes gives up the CPU, so that the others queue up.
 */
#include "kernel/lock/spinlock.h"
#include "kernel/sched/threads.h"
#include "kernel/sched/wait.h"
#include "kernel/workloads/mutex.h"
#include "kernel/workloads/parts.h"

struct arena {
    struct kmutex mutex;
    struct kspinlock spin;
    uint64_t rounds, blows; /* under the mutex, under the spinlock */
    struct kevent *day;
    uint64_t seed;
};

static void fight(void *argument)
{
    struct arena *a = argument;
    struct krand random;
    krand_init(&random, a->seed + kthread_from_stack()->tid);
    while (kpart_goes_on(a->day)) {
        enum kwait_reason reason = krand_below(&random, 4) ? KWAIT_WR_FAST_MUTEX : KWAIT_WR_RESOURCE;
        if (kmutex_lock(&a->mutex, reason, KWORKLOAD_PATIENCE) == -ETIMEDOUT)
            continue;
        a->rounds++;
        uint32_t what = krand_below(&random, 32);
        if (what < 6)
            kthread_yield();
        else if (what == 6)
            kthread_sleep(1, KWAIT_WR_EXECUTIVE);
        kmutex_unlock(&a->mutex, KWAIT_INCREMENT);

        bool on = kspin_lock_irqsave(&a->spin);
        a->blows++;
        kspin_unlock_irqrestore(&a->spin, on);
        kpart_compute(random.state, 16);
        if (a->day && what >= 30) /* part of a mix: the others want the CPU too */
            kthread_sleep(1 + krand_below(&random, 8), KWAIT_SUSPENDED);
    }
}

int kpart_lockfight(struct kevent *day, uint64_t seed, uint32_t groups, uint32_t fighters)
{
    int e = 0;
    for (uint32_t i = 0; i < groups && !e; i++) {
        struct arena *a = kworkload_alloc(sizeof *a);
        if (!a)
            return -ENOMEM;
        kmutex_init(&a->mutex);
        a->spin.name = "lock fight";
        a->day = day;
        a->seed = seed;
        for (uint32_t k = 0; k < fighters && !e; k++)
            e = kworkload_thread("fighter", i * fighters + k, KPRIORITY_NORMAL, KTHREAD_ANY_CPU, fight, a);
    }
    return e;
}

static int start(uint64_t seed)
{
    return kpart_lockfight(NULL, seed, kcpu_count > 1 ? kcpu_count / 2 : 1, 6);
}

KWORKLOAD(lockfight, start);
