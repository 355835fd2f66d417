/* SPDX-License-Identifier: MIT */
#include "kernel/activity/sample_interval.h"

#include "kernel/activity/events.h"
#include "kernel/options/options.h"

static uint32_t tick_units(void)
{
    return kopt.tick_us * 10;
}

uint32_t ksample_interval(void)
{
    return __atomic_load_n(&kactivity_sample_every, __ATOMIC_RELAXED) * tick_units();
}

__attribute__((weak)) void ksample_interval_changed(uint32_t new_interval, uint32_t old_interval)
{
    (void)new_interval, (void)old_interval;
}

void ksample_interval_set(uint32_t interval)
{
    uint32_t tick = tick_units(), most = KSAMPLE_INTERVAL_MAX / tick;
    uint32_t ticks = interval / tick + (interval % tick >= tick / 2);
    if (ticks > most)
        ticks = most;
    if (!ticks)
        ticks = 1;
    uint32_t old = __atomic_exchange_n(&kactivity_sample_every, ticks, __ATOMIC_RELAXED);
    ksample_interval_changed(ticks * tick, old * tick);
}
