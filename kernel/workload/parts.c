/* SPDX-License-Identifier: MIT */
/* The workload `sleepers`, and the parts of `mix` that are always there. Sleepers have priorities from 2 to 23. They
 * sleep, mostly for a tick or two, sometimes for up to forty, and do little else. Hogs compute. */
#include "kernel/workload/parts.h"

#include "kernel/sched/threads.h"
#include "kernel/sched/time.h"

__attribute__((weak)) void kpart_wait_for(struct kevent *day)
{
    (void)day;
}

bool kpart_goes_on(struct kevent *day)
{
    kpart_wait_for(day);
    return !kworkload_stopping();
}

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

static int start_sleepers(uint64_t seed)
{
    return kpart_sleepers(NULL, seed, 8 * kcpu_count);
}
KWORKLOAD(sleepers, start_sleepers);

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

int kpart_rest(struct kevent *day, uint64_t seed)
{
    const int e = kpart_hogs(day, seed + 4000, kcpu_count, 6);
    return e ? e : kpart_sleepers(day, seed + 5000, 6 * kcpu_count);
}

__attribute__((weak)) int kpart_mix(uint64_t seed)
{
    return kpart_rest(NULL, seed);
}
KWORKLOAD(mix, kpart_mix);
