/* SPDX-License-Identifier: MIT */
#include "kernel/sched/time.h"

#include "arch/arch.h"
#include "kernel/lib/errno.h"
#include "kernel/sched/dpc.h"
#include "kernel/sched/sched.h"
#include "kernel/sched/wait.h"

static uint64_t tick_count; /* counted by CPU 0, under the dispatcher lock; may be read without */
/* Threads that wait for a tick, by kthread.timer_link: soonest first, equal ones as they came. Dispatcher lock. */
static struct klist timers = {&timers, &timers};

uint64_t ktime_ticks(void)
{
    return __atomic_load_n(&tick_count, __ATOMIC_RELAXED);
}

void ktime_wait(struct kthread *thread, uint64_t due)
{
    struct klist *at = timers.prev; /* most sleeps end after those begun before them */
    while (at != &timers && KLIST_ITEM(at, struct kthread, timer_link)->timer_due > due)
        at = at->prev;
    thread->timer_due = due;
    klist_add_after(at, &thread->timer_link);
}

/* The first thread that is due; NULL: none is. */
static struct kthread *first_due(void)
{
    struct kthread *first = klist_empty(&timers) ? NULL : KLIST_ITEM(timers.next, struct kthread, timer_link);
    return first && first->timer_due <= tick_count ? first : NULL;
}

static void end_waits(void)
{
    struct kthread *t;
    bool on = arch_irq_save();
    ksched_lock();
    while ((t = first_due()))
        kwait_end(t, -ETIMEDOUT, 0);
    ksched_unlock();
    arch_irq_restore(on);
}

void ktime_tick(void)
{
    static struct kdpc expiry = {.routine = end_waits, .timer = true};
    ksched_lock();
    __atomic_store_n(&tick_count, tick_count + 1, __ATOMIC_RELAXED);
    bool due = first_due() != NULL;
    ksched_unlock();
    if (due)
        kdpc_queue(&expiry);
}
