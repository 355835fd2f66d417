/* SPDX-License-Identifier: MIT */
/* Mutexes: see kernel/sched/wait.h. */
#include "kernel/gate.h"
#include "kernel/lib/errno.h"
#include "kernel/sched/sched.h"
#include "kernel/sched/wait.h"

void kmutex_init(struct kmutex *mutex)
{
    kwait_object_init(&mutex->object, KOBJECT_MUTEX, 1);
    mutex->owner = NULL;
    mutex->depth = 0;
    mutex->abandoned = false;
    klist_init(&mutex->owned_link);
}

int kmutex_lock(struct kmutex *mutex, enum kwait_reason reason, uint64_t ticks)
{
    return kwait(&mutex->object, reason, ticks);
}

/* Dispatcher lock held: free, and handed to the first waiter. */
static void release(struct kmutex *mutex, int increment)
{
    klist_remove(&mutex->owned_link);
    mutex->owner = NULL;
    mutex->depth = 0;
    mutex->object.signal = 1;
    kwait_object_wake(&mutex->object, increment);
}

int kmutex_unlock(struct kmutex *mutex, int increment)
{
    bool on = kgate_enter();
    int e = -EPERM;
    ksched_lock();
    if (mutex->owner == kcpu_this()->current) {
        if (mutex->depth > 1)
            mutex->depth--;
        else
            release(mutex, increment);
        e = 0;
    }
    ksched_unlock();
    kgate_leave(on);
    return e;
}

void kmutex_abandon(struct kthread *thread)
{
    while (!klist_empty(&thread->owned)) {
        struct kmutex *mutex = KLIST_ITEM(thread->owned.next, struct kmutex, owned_link);
        mutex->abandoned = true;
        release(mutex, KWAIT_INCREMENT);
    }
}
