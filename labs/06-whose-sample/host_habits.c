/* SPDX-License-Identifier: MIT */
#include "host_habits.h"

#include <string.h>

#include "labs/host/random.h"
#include "tools/cairn/base/bytes.h"

#define SWITCHES 20000u
#define SAMPLED  14u   /* threads that are sampled; one that is not, and the idle thread run, too */
#define BUSY     3u    /* of them cause most records */
#define STEADY   1500u /* switches until another thread is busy */
#define BASE     UINT64_C(0xffff800000200000)
#define RECORD   200u
#define DRAINED  48u /* records */

struct cpu {
    struct lane *lane;
    uint32_t running, busy[BUSY]; /* threads: 0 is the idle one, 1 to SAMPLED are sampled */
    uint64_t index;
    int64_t time;
};

static uint32_t tid(uint32_t thread)
{
    return thread ? 4 + 4 * thread : 0;
}

static bool sampled(uint32_t thread)
{
    return thread && thread <= SAMPLED;
}

static void drain(struct cpu *c)
{
    *CAIRN_ADD(c->lane->drains) = (struct drain){(uint64_t)c->time, BASE, c->index};
    c->index = BASE;
}

static void record(struct cpu *c)
{
    struct lane *l = c->lane;
    *CAIRN_ADD(l->samples) = (struct sample){.epoch = (uint32_t)l->drains.count, .address = c->index};
    *CAIRN_ADD(l->culprits) = tid(c->running);
    c->index += RECORD;
    if (c->index == BASE + DRAINED * RECORD)
        drain(c);
}

static bool is_busy(const struct cpu *c, uint32_t thread)
{
    for (unsigned i = 0; i < BUSY; i++)
        if (c->busy[i] == thread)
            return true;
    return false;
}

static void run(struct cpu *c)
{
    c->time += 1 + lab_below(2000);
    if (is_busy(c, c->running))
        for (uint32_t records = lab_below(8); records; records--)
            record(c);
    else if (sampled(c->running) && lab_below(100) == 0)
        record(c);
}

/* Threads that are busy run less often than others. */
static uint32_t next(const struct cpu *c)
{
    uint32_t thread;
    do
        thread = lab_below(SAMPLED + 2);
    while (thread == c->running || (is_busy(c, thread) && lab_below(4)));
    return thread;
}

static void leave(struct cpu *c, uint32_t to)
{
    *CAIRN_ADD(c->lane->real) = (struct real){.is = {.old_state = KTHREAD_WAITING,
                                                     .old_wait_reason = KWAIT_USER_REQUEST,
                                                     .old_priority = 8,
                                                     .old_base = 8,
                                                     .old_tid = tid(c->running),
                                                     .new_tid = tid(to),
                                                     .pebs_index = c->index},
                                              .time = c->time,
                                              .epoch = (uint32_t)c->lane->drains.count,
                                              .old_sampled = sampled(c->running),
                                              .new_sampled = sampled(to)};
    c->running = to;
}

void habits_make(struct lane *lane)
{
    struct cpu c = {.lane = lane, .busy = {1, 2, 3}, .index = BASE};
    memset(lane, 0, sizeof *lane);
    for (uint32_t i = 0; i < SWITCHES; i++) {
        if (i % STEADY == 0)
            c.busy[lab_below(BUSY)] = 1 + lab_below(SAMPLED);
        run(&c);
        leave(&c, next(&c));
    }
    drain(&c);
}
