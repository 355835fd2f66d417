/* SPDX-License-Identifier: MIT */
#include "kernel/workloads/priority.h"

#include "kernel/gate.h"
#include "kernel/lib/errno.h"
#include "kernel/sched/priority.h"
#include "kernel/sched/sched.h"
#include "kernel/tracepoint/activity.h"

int kpriority_set(int base)
{
    if (base < KPRIORITY_LOWEST || base > KPRIORITY_HIGHEST)
        return -EINVAL;
    bool on = kgate_enter();
    ksched_lock();
    struct kcpu *cpu = kcpu_this();
    struct kthread *self = cpu->current;
    const struct kactivity_before before = kactivity_look(self);
    self->priority = self->base_priority = (int8_t)base;
    if (kactivity_thread)
        kactivity_thread(cpu, KACTIVITY_SET, self, before, 0);
    cpu->reschedule = true; /* somebody in the queue may now come first */
    ksched_unlock();
    kgate_leave(on);
    return 0;
}
