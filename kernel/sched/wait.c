/* SPDX-License-Identifier: MIT */
/* The wait, which all kinds of dispatcher objects share. */
#include "kernel/sched/wait.h"

#include "kernel/gate.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/panic.h"
#include "kernel/sched/sched.h"
#include "kernel/sched/time.h"

void kwait_object_init(struct kobject *object, enum kobject_type type, int32_t signal)
{
    object->type = (uint8_t)type;
    object->signal = signal;
    klist_init(&object->waiters);
}

/* A wait is satisfied. */
static void take(struct kobject *object)
{
    if (object->type == KOBJECT_EVENT_AUTO || object->type == KOBJECT_SEMAPHORE)
        object->signal--;
}

void kwait_end(struct kthread *thread, int status, int increment)
{
    klist_remove(&thread->wait_link);
    klist_remove(&thread->timer_link);
    thread->wait_status = status;
    ksched_ready(thread, increment);
}

void kwait_object_wake(struct kobject *object, int increment)
{
    while (object->signal > 0 && !klist_empty(&object->waiters)) {
        take(object);
        kwait_end(KLIST_ITEM(object->waiters.next, struct kthread, wait_link), 0, increment);
    }
}

/* The lock is held; the thread goes on with it held. */
static int wait_for(struct kobject *object, enum kwait_reason reason, uint64_t ticks)
{
    struct kcpu *cpu = kcpu_this();
    struct kthread *self = cpu->current;
    if (cpu->irq_depth)
        kpanic("wait: inside an interrupt");
    if (self == cpu->idle)
        kpanic("wait: by the idle thread");
    if (object && object->signal > 0) {
        take(object);
        return 0;
    }
    if (ticks == 0)
        return -ETIMEDOUT;

    uint64_t now = ktime_ticks();
    self->wait_reason = (uint8_t)reason;
    kthread_set_state(self, KTHREAD_WAITING);
    self->wait_start = now;
    if (object)
        klist_add_tail(&object->waiters, &self->wait_link);
    if (ticks < KWAIT_FOREVER - now)
        ktime_wait(self, now + ticks);
    ksched_switch_away();
    return self->wait_status;
}

int kwait(struct kobject *object, enum kwait_reason reason, uint64_t ticks)
{
    bool on = kgate_enter();
    ksched_lock();
    int status = wait_for(object, reason, ticks);
    ksched_unlock();
    kgate_leave(on);
    return status;
}
