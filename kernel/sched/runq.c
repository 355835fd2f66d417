/* SPDX-License-Identifier: MIT */
#include "kernel/sched/runq.h"

#include "kernel/thread.h"

void krunq_init(struct krunq *queue)
{
    queue->bitmap = 0;
    for (int i = 0; i < KPRIORITIES; i++)
        klist_init(&queue->list[i]);
}

void krunq_add(struct krunq *queue, struct kthread *thread, bool front)
{
    struct klist *list = &queue->list[thread->priority];
    if (front)
        klist_add_head(list, &thread->queue_link);
    else
        klist_add_tail(list, &thread->queue_link);
    queue->bitmap |= UINT32_C(1) << thread->priority;
}

void krunq_remove(struct krunq *queue, struct kthread *thread)
{
    klist_remove(&thread->queue_link);
    if (klist_empty(&queue->list[thread->priority]))
        queue->bitmap &= ~(UINT32_C(1) << thread->priority);
}

int krunq_highest(const struct krunq *queue)
{
    return queue->bitmap ? 31 - __builtin_clz(queue->bitmap) : -1;
}

struct kthread *krunq_first(const struct krunq *queue, uint32_t cpu)
{
    for (uint32_t left = queue->bitmap; left;) {
        int priority = 31 - __builtin_clz(left);
        const struct klist *list = &queue->list[priority];
        for (struct klist *node = list->next; node != list; node = node->next) {
            struct kthread *thread = KLIST_ITEM(node, struct kthread, queue_link);
            if (kcpuset_has(&thread->affinity, cpu))
                return thread;
        }
        left &= ~(UINT32_C(1) << priority);
    }
    return NULL;
}
