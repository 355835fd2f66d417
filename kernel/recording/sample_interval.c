/* SPDX-License-Identifier: MIT */
#include "kernel/recording/sample_interval.h"

#include "kernel/cpu.h"
#include "kernel/options/options.h"
#include "kernel/recording/rundown.h"

static uint32_t every = 1; /* ticks to a sample */

static uint32_t tick_units(void)
{
    return kopt.tick_us * 10;
}

uint32_t kprofile_interval(void)
{
    return __atomic_load_n(&every, __ATOMIC_RELAXED) * tick_units();
}

void kprofile_set_interval(uint32_t interval)
{
    uint32_t tick = tick_units(), most = KPROFILE_INTERVAL_MAX / tick;
    uint32_t ticks = interval / tick + (interval % tick >= tick / 2);
    if (ticks > most)
        ticks = most;
    if (!ticks)
        ticks = 1;
    uint32_t old = __atomic_exchange_n(&every, ticks, __ATOMIC_RELAXED);
    krundown_interval(ticks * tick, old * tick);
}

bool kprofile_due(const struct kcpu *cpu)
{
    uint32_t n = __atomic_load_n(&every, __ATOMIC_RELAXED);
    return n == 1 || cpu->ticks % n == 0;
}
