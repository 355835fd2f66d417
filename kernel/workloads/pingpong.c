/* SPDX-License-Identifier: MIT */
/* Ping-pong: two threads, two events. The thread whose turn it is gives the turn to the other and waits. */
#include "kernel/sched/threads.h"
#include "kernel/sched/wait.h"
#include "kernel/workloads/parts.h"

struct player {
    struct kevent turn;
    struct player *other;
    struct kevent *day;
    struct krand random;
    uint32_t burst;
};

static void play(void *argument)
{
    struct player *me = argument;
    while (kpart_goes_on(me->day)) {
        if (kevent_wait(&me->turn, KWAIT_USER_REQUEST, KWORKLOAD_PATIENCE) != 0)
            continue;
        kpart_compute(me->random.state, 4);
        if (me->burst && krand_below(&me->random, 2 * me->burst) == 0)
            kthread_sleep(1 + krand_below(&me->random, 8), KWAIT_DELAY_EXECUTION);
        kevent_set(&me->other->turn, KWAIT_INCREMENT);
    }
}

int kpart_pingpong(struct kevent *day, uint64_t seed, uint32_t pairs, uint32_t burst)
{
    int e = 0;
    for (uint32_t i = 0; i < pairs && !e; i++) {
        struct player *p = kworkload_alloc(2 * sizeof *p);
        if (!p)
            return -ENOMEM;
        for (unsigned k = 0; k < 2; k++) {
            kevent_init(&p[k].turn, false, k == 0);
            krand_init(&p[k].random, seed + 2 * i + k);
            p[k].other = &p[1 - k];
            p[k].day = day;
            p[k].burst = burst;
        }
        e = kworkload_thread("ping", i, KPRIORITY_NORMAL, KTHREAD_ANY_CPU, play, &p[0]);
        if (!e)
            e = kworkload_thread("pong", i, KPRIORITY_NORMAL, KTHREAD_ANY_CPU, play, &p[1]);
    }
    return e;
}

static int start(uint64_t seed)
{
    return kpart_pingpong(NULL, seed, kcpu_count, 0);
}

KWORKLOAD(pingpong, start);
