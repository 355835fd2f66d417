/* SPDX-License-Identifier: MIT */
/* The programs of workload `user` (kernel/user/workload.c). Each is entered with two arguments and never returns. */
#include "kernel/user/ring3/programs.h"

#include "kernel/user/ring3/lib.h"

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
    lib_mark(text, sizeof text - 1);
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

/* ---- the registers of SSE, which the compiler leaves to us here */

#define EACH(_)       _(0) _(1) _(2) _(3) _(4) _(5) _(6) _(7) _(8) _(9) _(10) _(11) _(12) _(13) _(14) _(15)
#define LOAD(i)       "movdqu 16*" #i "(%0), %%xmm" #i "\n\t"
#define STORE(i)      "movdqu %%xmm" #i ", 16*" #i "(%0)\n\t"
#define ADD(from, to) "paddq %%xmm" #from ", %%xmm" #to "\n\t"

static void load(const uint64_t words[32])
{
    __asm__ volatile(EACH(LOAD)::"r"(words) : "memory");
}

static void store(uint64_t words[32])
{
    __asm__ volatile(EACH(STORE)::"r"(words) : "memory");
}

/* To each the one before, the last first. */
static void turn(void)
{
    __asm__ volatile(ADD(14, 15) ADD(13, 14) ADD(12, 13) ADD(11, 12) ADD(10, 11) ADD(9, 10) ADD(8, 9) ADD(7, 8)
                         ADD(6, 7) ADD(5, 6) ADD(4, 5) ADD(3, 4) ADD(2, 3) ADD(1, 2) ADD(0, 1)::);
}

/* Computes in those registers, and beside them in its memory: both must come to the same, whoever runs in between. */
void user_vector(uint64_t seed, uint64_t unused)
{
    uint64_t mine[32], now[32];
    (void)unused;
    for (unsigned i = 0; i < 32; i++)
        mine[i] = compute(seed, i + 1);
    load(mine);
    while (!lib_stopping()) {
        for (uint64_t rounds = next(&seed, 100); rounds; rounds--) {
            turn();
            for (unsigned i = 31; i >= 2; i--)
                mine[i] += mine[i - 2];
        }
        store(now);
        for (unsigned i = 0; i < 32; i++)
            if (now[i] != mine[i])
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
