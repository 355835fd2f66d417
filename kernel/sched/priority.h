/* SPDX-License-Identifier: MIT */
/*
 * How priorities change, as in Windows. A wait that a signal ends raises a dynamic thread to its base priority plus the
 * signal's increment, at most to 15, and never lowers it. Each quantum that ends lowers it by one, down to the base.
 * Real-time priorities (16..31) do not change. Pure: also compiled on the host.
 */
#pragma once

#include <stdint.h>

enum {
    KPRIORITY_IDLE = 0,
    KPRIORITY_LOWEST = 1,
    KPRIORITY_NORMAL = 8,
    KPRIORITY_DYNAMIC_MAX = 15,
    KPRIORITY_REALTIME = 16,
    KPRIORITY_HIGHEST = 31,
};

static inline int8_t kpriority_boosted(int priority, int base, int increment)
{
    int lifted = base + increment;
    if (base >= KPRIORITY_REALTIME || increment <= 0)
        return (int8_t)priority;
    if (lifted > KPRIORITY_DYNAMIC_MAX)
        lifted = KPRIORITY_DYNAMIC_MAX;
    return (int8_t)(lifted > priority ? lifted : priority);
}

static inline int8_t kpriority_decayed(int priority, int base)
{
    return (int8_t)(priority > base ? priority - 1 : base);
}
