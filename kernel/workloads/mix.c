/* SPDX-License-Identifier: MIT */
/*
 * What `mix` has beside sleepers and hogs. With it the trace contains every form of record and nearly every reason to
 * close a batch (none of a panic): more than 16 threads for each CPU, boosts up to 9, priorities below the base, time
 * deltas above 2^14 and 2^17 units, and nights in which most CPUs are idle for more than 500 ticks.
 */
#include "kernel/sched/threads.h"
#include "kernel/sched/time.h"
#include "kernel/workloads/parts.h"
#include "kernel/workloads/priority.h"

void kpart_wait_for(struct kevent *day)
{
    while (day && !__atomic_load_n(&day->object.signal, __ATOMIC_RELAXED) && !kworkload_stopping())
        kevent_wait(day, KWAIT_WR_RENDEZVOUS, 8 * KWORKLOAD_PATIENCE);
}

struct mix {
    struct kevent day;
    uint64_t seed;
};

/* A device and its driver: whoever waits for a device is lifted by what the device is worth, 1 (disk) to 9. */
struct device {
    struct kevent done;
    struct mix *mix;
    struct krand random;
};

static void device(void *argument)
{
    struct device *d = argument;
    while (kpart_goes_on(&d->mix->day)) {
        kthread_sleep(2 + krand_below(&d->random, 6), KWAIT_WR_EXECUTIVE);
        kevent_set(&d->done, 1 + (int)krand_below(&d->random, 9));
    }
}

static void driver(void *argument)
{
    struct device *d = argument;
    while (kpart_goes_on(&d->mix->day)) {
        if (kevent_wait(&d->done, KWAIT_WR_LPC_RECEIVE, KWORKLOAD_PATIENCE) != 0)
            continue;
        uint64_t until = ktime_ticks() + 3; /* more than a quantum: the boost decays */
        while (ktime_ticks() < until && !kworkload_stopping())
            kpart_compute(until, 64);
    }
}

/* Changes its base priority all the time: leaves its CPU above and below what a batch recorded as its base. */
static void moody(void *argument)
{
    struct device *d = argument;
    while (kpart_goes_on(&d->mix->day)) {
        kpriority_set(4 + (int)krand_below(&d->random, 10));
        if (krand_below(&d->random, 2))
            kthread_yield();
        kthread_sleep(1 + krand_below(&d->random, 3), KWAIT_WR_ALERT_BY_THREAD_ID);
    }
}

/* Works alone through the night, on CPU 0: long stretches without a switch, while the other CPUs idle. */
static void watchman(void *argument)
{
    struct mix *m = argument;
    struct krand random;
    krand_init(&random, m->seed);
    while (!kworkload_stopping()) {
        uint64_t until = ktime_ticks() + 15 + krand_below(&random, 10);
        while (!__atomic_load_n(&m->day.object.signal, __ATOMIC_RELAXED) && ktime_ticks() < until)
            kpart_compute(until, 64);
        kthread_sleep(20 + krand_below(&random, 20), KWAIT_DELAY_EXECUTION);
    }
}

/* Until `ticks` have passed or the run ends. */
static void rest(uint64_t ticks)
{
    for (uint64_t until = ktime_ticks() + ticks; ktime_ticks() < until && !kworkload_stopping();)
        kthread_sleep(KWORKLOAD_PATIENCE, KWAIT_DELAY_EXECUTION);
}

/* Day and night. The first night comes early, so that short runs have one; it is longer than 500 ticks and the patience
 * of whoever waits when it falls. */
static void sun(void *argument)
{
    struct mix *m = argument;
    for (uint64_t day = 300; !kworkload_stopping(); day = 6000) {
        rest(day);
        kevent_reset(&m->day);
        rest(800);
        kevent_set(&m->day, KWAIT_INCREMENT);
    }
    kevent_set(&m->day, 0);
}

int kpart_mix(uint64_t seed)
{
    uint32_t n = kcpu_count;
    struct mix *m = kworkload_alloc(sizeof *m);
    if (!m)
        return -ENOMEM;
    kevent_init(&m->day, true, true);
    m->seed = seed;

    int e = 0;
    for (uint32_t i = 0; i < n && !e; i++) {
        struct device *d = kworkload_alloc(sizeof *d);
        if (!d)
            return -ENOMEM;
        kevent_init(&d->done, false, false);
        d->mix = m;
        krand_init(&d->random, seed + i);
        (void)((e = kworkload_thread("driver", i, 5, KTHREAD_ANY_CPU, driver, d)) ||
               (e = kworkload_thread("device", i, KPRIORITY_REALTIME, KTHREAD_ANY_CPU, device, d)) ||
               (e = kworkload_thread("moody", i, KPRIORITY_NORMAL, KTHREAD_ANY_CPU, moody, d)));
    }
    (void)(e || (e = kpart_pingpong(&m->day, seed + 1000, n, 40)) || (e = kpart_prodcons(&m->day, seed + 2000, n)) ||
           (e = kpart_lockfight(&m->day, seed + 3000, n, 3)) || (e = kpart_rest(&m->day, seed)) ||
           (e = kworkload_thread("watchman", 0, KPRIORITY_NORMAL, 0, watchman, m)) ||
           (e = kworkload_thread("sun", 0, 24, KTHREAD_ANY_CPU, sun, m)));
    return e;
}
