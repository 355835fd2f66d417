/* SPDX-License-Identifier: MIT */
/* Locks: every CPU takes the same spin locks, of every kind, nested deeper than is tracked. Each lock guards two words
 * that are equal whenever it is free. */
#include "kernel/locks/executive_spinlock.h"
#include "kernel/locks/queued_spinlock.h"
#include "kernel/sched/threads.h"
#include "kernel/workload/parts.h"

#define NESTED 10u /* TRACE_SPINLOCK_DEPTH and two more */

struct guarded {
    uint64_t first, second;
};

/* Variables of the kernel's, so that they have names in a log. */
static struct kspinlock locks_ordinary = KSPINLOCK("locks: ordinary");
static struct kqueued_spinlock locks_queued = {.name = "locks: queued"};
static struct kexecutive_spinlock locks_executive = {.name = "locks: executive"};
static struct kspinlock locks_nested[NESTED];
static struct guarded by_ordinary, by_queued, by_executive, by_nested;

static void change(struct guarded *g, struct krand *random)
{
    KASSERT(g->first == g->second);
    g->first++;
    kpart_compute(random->state, krand_below(random, 8));
    g->second++;
}

static void ordinary(struct krand *random)
{
    bool on = kspin_lock_irqsave(&locks_ordinary);
    change(&by_ordinary, random);
    kspin_unlock_irqrestore(&locks_ordinary, on);
}

static void queued(struct krand *random)
{
    struct kqueued_place place;
    bool on = arch_irq_save();
    kqueued_lock(&locks_queued, &place);
    change(&by_queued, random);
    kqueued_unlock(&place);
    arch_irq_restore(on);
}

static void shared(struct krand *random)
{
    bool on = arch_irq_save();
    kexecutive_lock_shared(&locks_executive);
    KASSERT(by_executive.first == by_executive.second);
    kpart_compute(random->state, krand_below(random, 8));
    KASSERT(by_executive.first == by_executive.second);
    if (krand_below(random, 2) && kexecutive_try_convert(&locks_executive)) {
        change(&by_executive, random);
        kexecutive_unlock_exclusive(&locks_executive);
    } else {
        kexecutive_unlock_shared(&locks_executive);
    }
    arch_irq_restore(on);
}

static void exclusive(struct krand *random)
{
    bool on = arch_irq_save();
    kexecutive_lock_exclusive(&locks_executive);
    change(&by_executive, random);
    kexecutive_unlock_exclusive(&locks_executive);
    arch_irq_restore(on);
}

/* Taken in one order, or two CPUs would wait for each other; let go of as it comes. */
static void nested(struct krand *random)
{
    uint32_t depth = 1 + krand_below(random, NESTED), turn = krand_below(random, depth);
    bool on = arch_irq_save();
    for (uint32_t i = 0; i < depth; i++)
        kspin_lock(&locks_nested[i]);
    change(&by_nested, random);
    for (uint32_t i = 0; i < depth; i++)
        kspin_unlock(&locks_nested[(turn + i) % depth]);
    arch_irq_restore(on);
}

static void fight(void *argument)
{
    static void (*const kinds[])(struct krand *) = {ordinary, queued, shared, exclusive, nested};
    struct krand random;
    krand_init(&random, *(const uint64_t *)argument + kthread_from_stack()->tid);
    while (kpart_goes_on(NULL)) {
        kinds[krand_below(&random, sizeof kinds / sizeof kinds[0])](&random);
        uint32_t what = krand_below(&random, 32);
        if (what < 8)
            kthread_yield();
        else if (what == 8)
            kthread_sleep(1, KWAIT_WR_EXECUTIVE);
    }
}

static int start(uint64_t seed)
{
    int e = 0;
    uint64_t *base = kworkload_alloc(sizeof *base);
    if (!base)
        return -ENOMEM;
    *base = seed;
    for (uint32_t i = 0; i < NESTED; i++)
        locks_nested[i].name = "locks: nested";
    for (uint32_t i = 0; i < 2 * kcpu_count && !e; i++)
        e = kworkload_thread("locker", i, KPRIORITY_NORMAL, KTHREAD_ANY_CPU, fight, base);
    return e;
}

KWORKLOAD(locks, start);
