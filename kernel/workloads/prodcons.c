/* SPDX-License-Identifier: MIT */
/*
 * Producers and consumers: a ring of a few places, two semaphores that count the free and the filled places, a mutex.
 */
#include "kernel/sched/threads.h"
#include "kernel/sched/wait.h"
#include "kernel/workloads/mutex.h"
#include "kernel/workloads/parts.h"
#include "kernel/workloads/semaphore.h"

#define PLACES 8

struct ring {
    struct ksem empty, filled;
    struct kmutex mutex;
    uint64_t item[PLACES];
    uint32_t in, out;
    struct kevent *day;
    uint64_t seed;
};

/* With the mutex, or not at all: it is held for a moment only, so waiting in vain means that the run ends. */
static bool lock(struct ring *r)
{
    while (!kworkload_stopping())
        if (kmutex_lock(&r->mutex, KWAIT_WR_MUTEX, KWORKLOAD_PATIENCE) != -ETIMEDOUT)
            return true;
    return false;
}

static void produce(void *argument)
{
    struct ring *r = argument;
    struct krand random;
    krand_init(&random, r->seed + kthread_from_stack()->tid);
    while (kpart_goes_on(r->day)) {
        if (krand_below(&random, 16) == 0) /* now and then there is nothing to bring */
            kthread_sleep(1 + krand_below(&random, 3), KWAIT_WR_DELAY_EXECUTION);
        if (ksem_wait(&r->empty, KWAIT_WR_QUEUE, KWORKLOAD_PATIENCE) != 0)
            continue;
        if (!lock(r))
            return;
        r->item[r->in] = krand_next(&random);
        r->in = (r->in + 1) % PLACES;
        kmutex_unlock(&r->mutex, KWAIT_INCREMENT);
        ksem_post(&r->filled, 1, KWAIT_INCREMENT);
    }
}

static void consume(void *argument)
{
    struct ring *r = argument;
    while (kpart_goes_on(r->day)) {
        if (ksem_wait(&r->filled, KWAIT_WR_QUEUE, KWORKLOAD_PATIENCE) != 0)
            continue;
        if (!lock(r))
            return;
        uint64_t item = r->item[r->out];
        r->out = (r->out + 1) % PLACES;
        kmutex_unlock(&r->mutex, KWAIT_INCREMENT);
        ksem_post(&r->empty, 1, KWAIT_INCREMENT);
        kpart_compute(item, 8);
    }
}

int kpart_prodcons(struct kevent *day, uint64_t seed, uint32_t rings)
{
    int e = 0;
    for (uint32_t i = 0; i < rings && !e; i++) {
        struct ring *r = kworkload_alloc(sizeof *r);
        if (!r)
            return -ENOMEM;
        ksem_init(&r->empty, PLACES, PLACES);
        ksem_init(&r->filled, 0, PLACES);
        kmutex_init(&r->mutex);
        r->day = day;
        r->seed = seed;
        for (unsigned k = 0; k < 2 && !e; k++) {
            e = kworkload_thread("producer", 2 * i + k, KPRIORITY_NORMAL - 1, KTHREAD_ANY_CPU, produce, r);
            if (!e)
                e = kworkload_thread("consumer", 2 * i + k, KPRIORITY_NORMAL + 1, KTHREAD_ANY_CPU, consume, r);
        }
    }
    return e;
}

static int start(uint64_t seed)
{
    return kpart_prodcons(NULL, seed, kcpu_count);
}

KWORKLOAD(prodcons, start);
