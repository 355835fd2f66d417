/* SPDX-License-Identifier: MIT */
/* CPU hogs: threads that only compute and lose their CPU when their quantum ends. */
#include "kernel/sched/sched.h"
#include "kernel/sched/threads.h"
#include "kernel/sched/time.h"
#include "kernel/sched/wait.h"
#include "kernel/workloads/parts.h"

struct hog {
    struct kevent *day;
    struct krand random;
    uint32_t burst;
};

static void devour(void *argument)
{
    struct hog *h = argument;
    while (kpart_goes_on(h->day)) {
        uint64_t x = krand_next(&h->random);
        uint64_t until = ktime_ticks() + 1 + krand_below(&h->random, h->burst ? h->burst : 64);
        while (ktime_ticks() < until && !kworkload_stopping())
            x = kpart_compute(x, 64);
        if (h->burst)
            kthread_sleep(1 + krand_below(&h->random, 4 * h->burst), KWAIT_DELAY_EXECUTION);
    }
}

int kpart_hogs(struct kevent *day, uint64_t seed, uint32_t hogs, uint32_t burst)
{
    int e = 0;
    for (uint32_t i = 0; i < hogs && !e; i++) {
        struct hog *h = kworkload_alloc(sizeof *h);
        if (!h)
            return -ENOMEM;
        h->day = day;
        h->burst = burst;
        krand_init(&h->random, seed + i);
        e = kworkload_thread("hog", i, KPRIORITY_NORMAL, KTHREAD_ANY_CPU, devour, h);
    }
    return e;
}

static int start(uint64_t seed)
{
    return kpart_hogs(NULL, seed, 2 * kcpu_count + 1, 0);
}

KWORKLOAD(hogs, start);
