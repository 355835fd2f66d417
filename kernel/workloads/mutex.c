/* SPDX-License-Identifier: MIT */
#include "kernel/workloads/mutex.h"

#include "kernel/lib/errno.h"
#include "kernel/this_thread.h"

void kmutex_init(struct kmutex *mutex)
{
    *mutex = (struct kmutex){0};
    kevent_init(&mutex->free, false, true);
}

/* `owner` may be read without a lock: only a thread itself makes it that thread, or no longer that. */
static bool owns(const struct kmutex *mutex, const struct kthread *thread)
{
    return __atomic_load_n(&mutex->owner, __ATOMIC_RELAXED) == thread;
}

int kmutex_lock(struct kmutex *mutex, enum kwait_reason reason, uint64_t ticks)
{
    struct kthread *self = kthread_from_stack();
    const int e = owns(mutex, self) ? 0 : kevent_wait(&mutex->free, reason, ticks);
    if (!e) {
        __atomic_store_n(&mutex->owner, self, __ATOMIC_RELAXED);
        mutex->depth++;
    }
    return e;
}

int kmutex_unlock(struct kmutex *mutex, int increment)
{
    if (!owns(mutex, kthread_from_stack()))
        return -EPERM;
    if (--mutex->depth == 0) {
        __atomic_store_n(&mutex->owner, NULL, __ATOMIC_RELAXED);
        kevent_set(&mutex->free, increment);
    }
    return 0;
}
