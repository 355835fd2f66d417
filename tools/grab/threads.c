/* SPDX-License-Identifier: MIT */
#include "tools/grab/threads.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/names.h"
#include "tools/grab/base/line.h"
#include "tools/grab/base/memory.h"

/* include/linux/sched.h: the same numbers in every kernel from 4.14 on, as far as they matter here. */
#define TASK_STOPPED 0x4u
#define TASK_TRACED  0x8u
#define EXIT_STATES  (0x10u | 0x20u) /* EXIT_DEAD, EXIT_ZOMBIE */
#define TASK_DEAD    0x80u

int8_t grab_priority(int32_t priority)
{
    const int32_t nice = priority - 120;
    if (priority < 0)
        return 31;
    if (priority < 100) /* 99 - rt_priority, which is 1 to 99 */
        return (int8_t)(30 - priority * 14 / 98);
    return (int8_t)(nice <= 0 ? 8 - nice * 7 / 20 : 8 - (nice * 7 + 18) / 19);
}

/* KTHREAD_STATE and, where it waits, KWAIT_REASON. */
static void put_state(struct trace_switch *to, uint32_t state)
{
    if (!state) {
        to->old_state = KTHREAD_READY;
    } else if (state & (EXIT_STATES | TASK_DEAD)) {
        to->old_state = KTHREAD_TERMINATED;
    } else {
        to->old_state = KTHREAD_WAITING;
        to->old_wait_reason = state & (TASK_STOPPED | TASK_TRACED) ? KWAIT_SUSPENDED : CAIRN_REASON_UNKNOWN;
    }
    to->old_state_wr = to->old_wait_reason == CAIRN_REASON_UNKNOWN
                           ? CCSWAP_MAXIMUM_WAIT_REASON + KTHREAD_WAITING
                           : ccswap_state_wr(to->old_state, to->old_wait_reason);
}

struct trace_switch grab_switch_of(const struct grab_switched *s)
{
    struct trace_switch to = {
        .tsc = s->tsc,
        .old_tid = s->s.old_tid,
        .new_tid = s->s.new_tid,
        .new_wait = s->wait,
        .old_priority = grab_priority(s->s.old_priority),
        .old_base = grab_priority(s->s.old_base),
        .new_priority = grab_priority(s->s.new_base),
    };
    put_state(&to, s->s.old_state);
    return to;
}

static void add(struct grab_threads *t, uint32_t tid, uint32_t tgid, uint32_t flags, int32_t base, const char *comm)
{
    struct grab_thread *to = GRAB_ADD(t->items, t->count, t->room);
    *to = (struct grab_thread){.tid = tid, .tgid = tgid, .flags = flags, .base = grab_priority(base)};
    memcpy(to->comm, comm, GRAB_COMM);
    grab_line_clean(to->comm);
}

static int by_tid(const void *a, const void *b)
{
    const struct grab_sight *x = a, *y = b;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->s->tsc != y->s->tsc)
        return x->s->tsc < y->s->tsc ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

struct grab_sight *grab_sights_find(struct grab_store *store, size_t *count)
{
    struct grab_sight *sights = NULL;
    size_t room = 0;
    *count = 0;
    for (unsigned c = 0; c < GRAB_CPUS; c++)
        for (size_t i = 0; i < store->cpu[c].switch_count; i++) {
            struct grab_switched *s = &store->cpu[c].switches[i];
            *(struct grab_sight *)GRAB_ADD(sights, *count, room) = (struct grab_sight){s, s->s.old_tid, i};
            *(struct grab_sight *)GRAB_ADD(sights, *count, room) = (struct grab_sight){s, s->s.new_tid, i};
        }
    if (*count)
        qsort(sights, *count, sizeof *sights, by_tid);
    return sights;
}

void grab_threads_find(struct grab_threads *t, struct grab_store *store)
{
    size_t count;
    struct grab_sight *sights = grab_sights_find(store, &count);
    *t = (struct grab_threads){0};
    for (size_t i = 0; i < count; i++) {
        const struct grab_switch *s = &sights[i].s->s;
        if (!sights[i].tid || (i + 1 < count && sights[i + 1].tid == sights[i].tid))
            continue; /* the last of each */
        if (sights[i].tid == s->old_tid)
            add(t, s->old_tid, s->old_tgid, s->old_flags, s->old_base, s->old_comm);
        else
            add(t, s->new_tid, s->new_tgid, s->new_flags, s->new_base, s->new_comm);
    }
    free(sights);
}
