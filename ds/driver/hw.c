/* SPDX-License-Identifier: MIT */
/* The real processor: executes the instructions. MSRs are accessed with the variants that survive #GP. */
#include "arch/arch.h"
#include "ds/ds.h"

static void hw_cpuid(void *context, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    (void)context;
    arch_cpuid(leaf, subleaf, out);
}

static int hw_rdmsr(void *context, uint32_t msr, uint64_t *value)
{
    (void)context;
    return arch_rdmsr_safe(msr, value);
}

static int hw_wrmsr(void *context, uint32_t msr, uint64_t value)
{
    (void)context;
    return arch_wrmsr_safe(msr, value);
}

static uint32_t hw_lvtpc_read(void *context)
{
    (void)context;
    return arch_lvtpc_read();
}

static void hw_lvtpc_write(void *context, uint32_t value)
{
    (void)context;
    arch_lvtpc_write(value);
}

static uint64_t hw_physical(void *context, const void *address)
{
    (void)context;
    return arch_virt_to_phys(address);
}

const struct ds_machine *ds_hw_machine(void)
{
    static const struct ds_machine machine = {
        .backend = "hw",
        .cpuid = hw_cpuid,
        .rdmsr = hw_rdmsr,
        .wrmsr = hw_wrmsr,
        .lvtpc_read = hw_lvtpc_read,
        .lvtpc_write = hw_lvtpc_write,
        .physical = hw_physical,
        .readable = arch_readable,
    };
    return &machine;
}
