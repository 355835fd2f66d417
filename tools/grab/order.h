/* SPDX-License-Identifier: MIT */
/*
 * Puts what was stored in order and gives it times. The order on a CPU is certain: a switch says how many drains came
 * before it, and PebsIndex says which records did. A mapped time has an error, so it is moved, as little as needed, to
 * where that order allows it; how often and how far is counted.
 */
#pragma once

#include "tools/grab/base/clock.h"
#include "tools/grab/base/store.h"

struct grab_order {
    uint64_t moved, most; /* times that were moved; TSC cycles of the farthest */
};

/* Sets `tsc` of all, and `wait`. `format`: of PEBS. `tick`: TSC cycles. */
void grab_order(struct grab_store *store, const struct grab_clock *clock, unsigned format, uint64_t tick,
                struct grab_order *order);
