/* SPDX-License-Identifier: MIT */
/* Sleepers: threads of all priorities that sleep, mostly for a tick or two, sometimes for up to forty, and do little
 * else. */
#include "kernel/sched/threads.h"
#include "kernel/sched/wait.h"
#include "kernel/workload/parts.h"

struct sleeper {
    struct kevent *day;
    struct krand random;
};

static void sleep_and_wake(void *argument)
{
    struct sleeper *s = argument;
    while (kpart_goes_on(s->day)) {
        uint32_t ticks = 1 + krand_below(&s->random, krand_below(&s->random, 8) ? 2 : 40);
        kthread_sleep(ticks, ticks > 2 ? KWAIT_WR_DELAY_EXECUTION : KWAIT_DELAY_EXECUTION);
        kpart_compute(s->random.state, krand_below(&s->random, 64));
    }
}

int kpart_sleepers(struct kevent *day, uint64_t seed, uint32_t sleepers)
{
    int e = 0;
    for (uint32_t i = 0; i < sleepers && !e; i++) {
        struct sleeper *s = kworkload_alloc(sizeof *s);
        if (!s)
            return -ENOMEM;
        s->day = day;
        krand_init(&s->random, seed + i);
        e = kworkload_thread("sleeper", i, 2 + (int)(i * 5 % 22), KTHREAD_ANY_CPU, sleep_and_wake,
                             s); /* 2..23: some are real-time */
    }
    return e;
}

static int start(uint64_t seed)
{
    return kpart_sleepers(NULL, seed, 8 * kcpu_count);
}

KWORKLOAD(sleepers, start);
