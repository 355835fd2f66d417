/* SPDX-License-Identifier: MIT */
#include "kernel/cost/cost.h"

#include "kernel/cpu.h"
#include "kernel/tracepoint/switch.h"

/* Cost classes: 16 to an octave, so that a class is within 1/16 of what it counts. */
#define CLASSES (64u * 16u)

/* By CPU in use, then by class. No switch is traced before there is a session, hence before kcost_init. */
static uint32_t (*counts)[CLASSES];
static uint64_t least[MAX_CPUS];

size_t kcost_bytes(void)
{
    return kcpu_count * sizeof *counts;
}

void kcost_init(void *memory)
{
    counts = memory;
}

static unsigned class_of(uint64_t cycles)
{
    if (cycles < 16)
        return (unsigned)cycles;
    unsigned octave = 63u - (unsigned)__builtin_clzl(cycles);
    return (octave - 3) * 16 + (unsigned)(cycles >> (octave - 4) & 15);
}

static uint64_t bound(unsigned class)
{
    return class < 16 ? class : (UINT64_C(16) + (class & 15) + 1) << (class / 16 - 1);
}

void kswitch_took(uint32_t cpu, uint64_t cycles)
{
    counts[cpu][class_of(cycles)]++;
    if (!least[cpu] || cycles < least[cpu])
        least[cpu] = cycles;
}

struct kcost kcost(void)
{
    struct kcost cost = {0};
    uint64_t seen = 0;
    for (uint32_t i = 0; counts && i < kcpu_count; i++) {
        if (least[i] && (!cost.min || least[i] < cost.min))
            cost.min = least[i];
        for (unsigned c = 0; c < CLASSES; c++)
            cost.count += counts[i][c];
    }
    for (unsigned c = 0; c < CLASSES && cost.count; c++) {
        for (uint32_t i = 0; i < kcpu_count; i++)
            seen += counts[i][c];
        if (!cost.median && seen * 2 >= cost.count)
            cost.median = bound(c);
        if (!cost.p99 && seen * 100 >= cost.count * 99)
            cost.p99 = bound(c);
    }
    return cost;
}
