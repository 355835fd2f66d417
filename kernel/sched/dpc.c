/* SPDX-License-Identifier: MIT */
#include "kernel/sched/dpc.h"

#include "arch/arch.h"
#include "kernel/lib/panic.h"
#include "kernel/lock/spinlock.h"
#include "kernel/tracepoint/activity.h"

static struct queue {
    struct kspinlock lock;
    struct klist list;
    uint32_t depth; /* atomic: may be read without the lock */
} __attribute__((aligned(64))) queues[MAX_CPUS];

void kdpc_init_queues(void)
{
    for (uint32_t i = 0; i < MAX_CPUS; i++) {
        queues[i].lock = (struct kspinlock)KSPINLOCK("dpc");
        klist_init(&queues[i].list);
        queues[i].depth = 0;
    }
}

void kdpc_init(struct kdpc *dpc, kdpc_routine routine, void *context)
{
    *dpc = (struct kdpc){.routine = routine, .context = context, .target = KDPC_HERE, .importance = KDPC_MEDIUM};
    klist_init(&dpc->link);
}

/* Whether its queue, `depth` deep now, has to be run at once. */
static bool urgent(const struct kdpc *dpc, uint32_t depth, bool local)
{
    if (depth >= KDPC_DEEP || dpc->importance == KDPC_HIGH || dpc->importance == KDPC_MEDIUM_HIGH)
        return true;
    return local && dpc->importance != KDPC_LOW;
}

/* True where the queue has to be run at once. From here on the DPC is the queue's. */
static bool put(struct queue *q, struct kdpc *dpc, bool local)
{
    kspin_lock(&q->lock);
    uint32_t depth = q->depth + 1;
    bool now = urgent(dpc, depth, local);
    if (dpc->importance == KDPC_HIGH)
        klist_add_head(&q->list, &dpc->link);
    else
        klist_add_tail(&q->list, &dpc->link);
    __atomic_store_n(&q->depth, depth, __ATOMIC_RELAXED);
    kspin_unlock(&q->lock);
    return now;
}

bool kdpc_queue(struct kdpc *dpc)
{
    bool on = arch_irq_save();
    const struct kcpu *cpu = kcpu_this();
    bool free = !__atomic_exchange_n(&dpc->queued, true, __ATOMIC_ACQUIRE);
    if (free) {
        uint32_t target = dpc->target == KDPC_HERE ? cpu->arch.index : dpc->target;
        bool local = target == cpu->arch.index;
        if (target >= kcpu_count)
            kpanic("dpc: there is no CPU %u", target);
        bool now = put(&queues[target], dpc, local);
        if (now && !local)
            arch_ipi(target, ARCH_VECTOR_RESCHEDULE);
        else if (now && cpu->irq_depth == 0) /* else the interrupt in progress runs it when it ends */
            arch_ipi_self(ARCH_VECTOR_RESCHEDULE);
    }
    arch_irq_restore(on);
    return free;
}

static struct kdpc *first_out(struct queue *q)
{
    struct kdpc *dpc = NULL;
    kspin_lock(&q->lock);
    if (!klist_empty(&q->list)) {
        dpc = KLIST_ITEM(q->list.next, struct kdpc, link);
        klist_remove(&dpc->link);
        __atomic_store_n(&q->depth, q->depth - 1, __ATOMIC_RELAXED);
    }
    kspin_unlock(&q->lock);
    return dpc;
}

void kdpc_run(struct kcpu *cpu)
{
    struct queue *q = &queues[cpu->arch.index];
    struct kdpc *dpc;
    while (__atomic_load_n(&q->depth, __ATOMIC_RELAXED) && (dpc = first_out(q))) {
        const kdpc_routine routine = dpc->routine;
        void *context = dpc->context;
        bool timer = dpc->timer;
        kactivity_dpc_begins(cpu);
        cpu->in_dpc = true;
        __atomic_store_n(&dpc->queued, false, __ATOMIC_RELEASE); /* may be queued again from here on */
        arch_irq_restore(true);
        routine(dpc, context);
        (void)arch_irq_save();
        cpu->in_dpc = false;
        kactivity_dpc_ends(cpu, (const void *)routine, timer);
    }
}
