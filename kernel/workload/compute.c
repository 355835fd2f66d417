/* SPDX-License-Identifier: MIT */
/* The loop of threads that compute, for all workloads. It has a file of its own: a compiler that sees that it only
 * computes leaves out the calls whose result nobody uses. */
#include "kernel/workload/parts.h"

uint64_t kpart_compute(uint64_t x, uint32_t rounds)
{
    while (rounds--)
        x = x * UINT64_C(6364136223846793005) + 1;
    return x;
}
