/* SPDX-License-Identifier: MIT */
#include "kernel/sched/time.h"

#include "arch/arch.h"
#include "kernel/lib/errno.h"
#include "kernel/sched/dpc.h"
#include "kernel/sched/sched.h"
#include "kernel/sched/timerq.h"
#include "kernel/sched/wait.h"

static uint64_t tick_count; /* counted by CPU 0, under the dispatcher lock; may be read without */
static struct klist timers; /* dispatcher lock */
static struct kdpc expiry;  /* ends the waits of `timers` that are due; CPU 0 */

uint64_t ktime_ticks(void)
{
    return __atomic_load_n(&tick_count, __ATOMIC_RELAXED);
}

void ktime_wait(struct kthread *thread, uint64_t due)
{
    ktimerq_add(&timers, thread, due);
}

static void end_waits(struct kdpc *dpc, void *unused)
{
    struct kthread *t;
    (void)dpc, (void)unused;
    bool on = arch_irq_save();
    ksched_lock();
    while ((t = ktimerq_take(&timers, tick_count)))
        kwait_end(t, -ETIMEDOUT, 0);
    ksched_unlock();
    arch_irq_restore(on);
}

void ktime_tick(void)
{
    ksched_lock();
    __atomic_store_n(&tick_count, tick_count + 1, __ATOMIC_RELAXED);
    bool due = ktimerq_due(&timers, tick_count);
    ksched_unlock();
    if (due)
        (void)kdpc_queue(&expiry); /* where it is still queued, it will look at all that is due then */
}

void ktime_init(void)
{
    klist_init(&timers);
    kdpc_init(&expiry, end_waits, NULL);
    expiry.timer = true;
}
