/* SPDX-License-Identifier: MIT */
/* CPUs with different TSCs: their events are merged by time, but not exactly in the order in which they happened. */
#pragma once

#include <stdbool.h>

#include "tools/cairn/log/log.h"

struct cairn_skew {
    uint32_t ahead, behind; /* the two CPUs furthest from each other */
    uint64_t cycles;        /* by which these may differ at most, as measured when they started */
};

/* False: the kernel found no TSC away from CPU 0's, by more than it could tell and a unit of the session's clock; or
 * the log does not say. */
bool cairn_skew(const struct cairn_log *log, struct cairn_skew *skew);
/* Says so in a line of its own, behind `prefix`; nothing where there is no skew. */
void cairn_print_skew(const struct cairn_log *log, const char *prefix);
