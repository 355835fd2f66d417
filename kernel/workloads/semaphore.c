/* SPDX-License-Identifier: MIT */
#include "kernel/workloads/semaphore.h"

#include "kernel/gate.h"
#include "kernel/lib/errno.h"
#include "kernel/sched/sched.h"

void ksem_init(struct ksem *sem, int32_t count, int32_t limit)
{
    kwait_object_init(&sem->object, KOBJECT_SEMAPHORE, count);
    sem->limit = limit;
}

int ksem_wait(struct ksem *sem, enum kwait_reason reason, uint64_t ticks)
{
    return kwait(&sem->object, reason, ticks);
}

int ksem_post(struct ksem *sem, int32_t count, int increment)
{
    bool on = kgate_enter();
    int e = -EOVERFLOW;
    ksched_lock();
    if (count <= sem->limit - sem->object.signal) {
        sem->object.signal += count;
        kwait_object_wake(&sem->object, increment);
        e = 0;
    }
    ksched_unlock();
    kgate_leave(on);
    return e;
}
