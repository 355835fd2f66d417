/* SPDX-License-Identifier: MIT */
#include "labs/host/random.h"

#include "labs/check.h"

uint64_t lab_random(void)
{
    static uint64_t x;
    if (!x)
        x = (2 * lab_seed() - 1) * UINT64_C(0x9E3779B97F4A7C15); /* never 0 */
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    return x * UINT64_C(0x2545F4914F6CDD1D);
}

uint32_t lab_below(uint32_t limit)
{
    return (uint32_t)((lab_random() >> 32) * limit >> 32);
}
