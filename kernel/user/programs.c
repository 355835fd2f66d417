/* SPDX-License-Identifier: MIT */
/* The programs of workload `user` (kernel/workload/user.c). Each is entered with two arguments and never returns. */
#include "kernel/user/programs.h"

#include "kernel/user/lib.h"

/* About three instructions a round. */
static uint64_t compute(uint64_t x, uint64_t rounds)
{
    while (rounds--)
        x = x * UINT64_C(6364136223846793005) + 1;
    return x;
}

/* A number below `limit`. */
static uint64_t next(uint64_t *state, uint64_t limit)
{
    *state = compute(*state, 1);
    return (*state >> 33) % limit;
}

void user_yielder(uint64_t seed, uint64_t unused)
{
    (void)unused;
    while (!lib_stopping()) {
        compute(seed, 20);
        lib_yield();
    }
    lib_exit(0);
}

void user_sleeper(uint64_t seed, uint64_t unused)
{
    static const char text[] = "good night from ring 3";
    (void)unused;
    lib_write(text, sizeof text - 1);
    while (!lib_stopping()) {
        lib_sleep(1 + next(&seed, 4));
        compute(seed, next(&seed, 64));
    }
    lib_exit(0);
}

/* Computes in both rings, and looks after its own: nobody else may touch its stack. */
void user_computer(uint64_t seed, uint64_t unused)
{
    volatile uint64_t mine[64];
    (void)unused;
    for (unsigned i = 0; i < 64; i++)
        mine[i] = seed + i;
    while (!lib_stopping()) {
        compute(seed, next(&seed, 2000));
        lib_spin(next(&seed, 500));
        for (unsigned i = 1; i < 64; i++)
            if (mine[i] != mine[0] + i)
                lib_exit(-EIO);
    }
    lib_exit(0);
}

/* Two of these hand the turn to each other: each waits for its own event, then sets the other one's. */
void user_player(uint64_t mine, uint64_t other)
{
    while (!lib_stopping())
        if (lib_wait(mine, 100) == 0) {
            compute(mine, 4);
            lib_set(other);
        }
    lib_exit(0);
}
