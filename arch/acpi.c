/* SPDX-License-Identifier: MIT */
/* Gives arch/firmware/acpi_tables.c access to this machine's memory. */
#include "arch/internal.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"

struct acpi_info arch_acpi;

static const void *read_memory(void *context, uint64_t phys, size_t size)
{
    (void)context;
    return arch_paging_reach(phys, size);
}

const struct acpi_memory arch_acpi_memory = {.read = read_memory};

int arch_acpi_init(const struct boot_info *info)
{
    struct acpi_problem problem;
    int error = acpi_parse(&arch_acpi_memory, info->rsdp, arch_this_cpu()->apic_id, &arch_acpi, &problem);
    if (error) {
        kprintf("acpi: table %s: %s; without ACPI the kernel cannot start\n", problem.table, problem.what);
        return error;
    }
    if (arch_acpi.ioapics_left_out) {
        kprintf("acpi: table APIC lists %u I/O APICs more than the %u that can be silenced\n",
                arch_acpi.ioapics_left_out, ACPI_MAX_IOAPICS);
        return -EINVAL;
    }
    if (problem.what)
        kprintf("acpi: table %s: %s: not used\n", problem.table, problem.what);
    return 0;
}

uint32_t arch_cpus_found(void)
{
    return arch_acpi.cpu_count + arch_acpi.cpus_left_out;
}

uint32_t arch_cpus_left_out(void)
{
    return arch_acpi.cpus_left_out;
}

uint32_t arch_cpus_disabled(void)
{
    return arch_acpi.cpus_disabled;
}
