/* SPDX-License-Identifier: MIT */
/* Threads in ring 3, each in its own address space: the programs of kernel/user/ring3/programs.c. */
#include "kernel/sched/wait.h"
#include "kernel/user/ring3/programs.h"

#include "kernel/workload/parts.h"

static int players(uint32_t pair)
{
    struct kevent *turn = kworkload_alloc(2 * sizeof *turn);
    if (!turn)
        return -ENOMEM;
    kevent_init(&turn[0], false, true);
    kevent_init(&turn[1], false, false);
    int e = kworkload_program("player", 2 * pair, KPRIORITY_NORMAL, user_player, 0, 1, turn, 2);
    return e ? e : kworkload_program("player", 2 * pair + 1, KPRIORITY_NORMAL, user_player, 1, 0, turn, 2);
}

/* Beside them a few of the kernel's own. */
static int start(uint64_t seed)
{
    int e = kpart_sleepers(NULL, seed, kcpu_count);
    for (uint32_t i = 0; i < kcpu_count && !e; i++)
        (void)((e = kworkload_program("yielder", i, KPRIORITY_NORMAL, user_yielder, seed + i, 0, NULL, 0)) ||
               (e = kworkload_program("napper", i, KPRIORITY_NORMAL + 1, user_sleeper, seed + i, 0, NULL, 0)) ||
               (e = kworkload_program("computer", i, KPRIORITY_NORMAL, user_computer, seed + i, 0, NULL, 0)) ||
               (e = kworkload_program("vector", i, KPRIORITY_NORMAL, user_vector, seed + i, 0, NULL, 0)) ||
               (e = players(i)));
    return e;
}

KWORKLOAD(user, start);
