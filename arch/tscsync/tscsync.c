/* SPDX-License-Identifier: MIT */
#include "arch/tscsync/tscsync.h"

#include "arch/internal.h"

#define MEASURE_US 1000u

static struct arch_tsc_exchange exchanges[MAX_CPUS]; /* by the kernel's dense CPU number, as */
static struct arch_tsc_bounds bounds[MAX_CPUS];

const struct arch_tsc_bounds *arch_tsc_bounds(uint32_t index)
{
    return &bounds[index];
}

void arch_tsc_meet(struct arch_cpu *cpu)
{
    arch_tsc_measure(&exchanges[cpu->index], &bounds[cpu->index], MEASURE_US * (arch_tsc_hz() / 1000000),
                     arch_tsc_hz());
}

void arch_tsc_wait(struct arch_cpu *cpu)
{
    arch_tsc_answer(&exchanges[cpu->index]);
}

uint64_t arch_tsc_common(void)
{
    const bool on = arch_irq_save();
    const uint64_t now = arch_rdtsc() - (uint64_t)arch_tsc_offset(&bounds[arch_cpu_index()]);
    arch_irq_restore(on);
    return now;
}
