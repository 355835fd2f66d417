/* SPDX-License-Identifier: MIT */
#include "kernel/sched/timerq.h"

#include "kernel/thread.h"

void ktimerq_add(struct klist *queue, struct kthread *thread, uint64_t due)
{
    struct klist *at = queue->prev;
    while (at != queue && KLIST_ITEM(at, struct kthread, timer_link)->timer_due > due)
        at = at->prev;
    thread->timer_due = due;
    klist_add_after(at, &thread->timer_link);
}

bool ktimerq_due(const struct klist *queue, uint64_t now)
{
    return !klist_empty(queue) && KLIST_ITEM(queue->next, struct kthread, timer_link)->timer_due <= now;
}

struct kthread *ktimerq_take(struct klist *queue, uint64_t now)
{
    if (!ktimerq_due(queue, now))
        return NULL;
    struct kthread *thread = KLIST_ITEM(queue->next, struct kthread, timer_link);
    klist_remove(&thread->timer_link);
    return thread;
}
