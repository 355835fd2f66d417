/* SPDX-License-Identifier: MIT */
/* The loop of threads that compute, for all workloads. */
#include "kernel/workload/parts.h"

__attribute__((noinline)) uint64_t kpart_compute(uint64_t x, uint32_t rounds)
{
    while (rounds--)
        x = x * UINT64_C(6364136223846793005) + 1;
    return x;
}
