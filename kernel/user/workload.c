/* SPDX-License-Identifier: MIT */
/* Threads in ring 3, each in its own address space: the programs of kernel/user/ring3/programs.c. */
#include "kernel/event/event.h"
#include "kernel/user/ring3/programs.h"
#include "kernel/user/user.h"
#include "kernel/workload/parts.h"

struct program {
    int priority;
    user_program *program;
    uint64_t first, second;
    struct kevent *event;
    uint32_t events;
};

static int create(struct kthread **thread, const char *name, const void *what)
{
    const struct program *p = what;
    return kuser_create(thread, name, p->priority, KTHREAD_ANY_CPU, p->program, p->first, p->second, p->event,
                        p->events);
}

int kuser_add(const char *name, uint32_t number, int priority, user_program *program, uint64_t first, uint64_t second,
              struct kevent *event, uint32_t events)
{
    const struct program p = {priority, program, first, second, event, events};
    return kworkload_add(name, number, create, &p);
}

static int players(uint32_t pair)
{
    struct kevent *turn = kworkload_alloc(2 * sizeof *turn);
    if (!turn)
        return -ENOMEM;
    kevent_init(&turn[0], false, true);
    kevent_init(&turn[1], false, false);
    int e = kuser_add("player", 2 * pair, KPRIORITY_NORMAL, user_player, 0, 1, turn, 2);
    return e ? e : kuser_add("player", 2 * pair + 1, KPRIORITY_NORMAL, user_player, 1, 0, turn, 2);
}

/* Beside them a few of the kernel's own. */
static int start(uint64_t seed)
{
    int e = kpart_sleepers(NULL, seed, kcpu_count);
    for (uint32_t i = 0; i < kcpu_count && !e; i++)
        (void)((e = kuser_add("yielder", i, KPRIORITY_NORMAL, user_yielder, seed + i, 0, NULL, 0)) ||
               (e = kuser_add("napper", i, KPRIORITY_NORMAL + 1, user_sleeper, seed + i, 0, NULL, 0)) ||
               (e = kuser_add("computer", i, KPRIORITY_NORMAL, user_computer, seed + i, 0, NULL, 0)) ||
               (e = kuser_add("vector", i, KPRIORITY_NORMAL, user_vector, seed + i, 0, NULL, 0)) || (e = players(i)));
    return e;
}

KWORKLOAD(user, start);
