/* SPDX-License-Identifier: MIT */
/* What the workloads here add to a mix. */
#include "kernel/workloads/parts.h"

int kpart_more(struct kevent *day, uint64_t seed)
{
    const uint32_t n = kcpu_count;
    int e = kpart_pingpong(day, seed + 1000, n, 40);
    (void)(e || (e = kpart_prodcons(day, seed + 2000, n)) || (e = kpart_lockfight(day, seed + 3000, n, 3)) ||
           (e = kpart_hogs(day, seed + 4000, n, 6)));
    return e;
}
