/* SPDX-License-Identifier: MIT */
/* CPU hogs: threads that only compute and lose their CPU when their quantum ends. */
#include "kernel/workload/parts.h"

static int start(uint64_t seed)
{
    return kpart_hogs(NULL, seed, 2 * kcpu_count + 1, 0);
}

KWORKLOAD(hogs, start);
