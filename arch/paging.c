/* SPDX-License-Identifier: MIT */
/*
 * The kernel's page tables, with 4 or 5 levels (SDM vol. 3, "4-Level Paging and 5-Level Paging").
 * docs/explain/memory.md has a picture of the map. W^X also holds for aliases: the direct map shows the kernel's text
 * and constants read-only.
 */
#include "arch/internal.h"
#include "arch/memory_layout.h"
#include "arch/page_tables.h"
#include "arch/registers.h"
#include "arch/upcalls.h"
#include "kernel/lib/errno.h"

#define CPUID_80000008_EAX_PHYSICAL_BITS 0xFFu

#define PAGE_MASK (UINT64_C(4096) - 1)

const struct boot_info *arch_boot_info;

struct arch_page_tables arch_page_tables = {.physical = BOOT_DIRECT_MAP};
static uint64_t device_next = LAYOUT_DEVICES;

/* What of the run of memory [from, to) is in [low, high). */
static int map_direct(uint64_t from, uint64_t to, uint64_t low, uint64_t high, unsigned flags)
{
    from = from > low ? from : low;
    to = to < high ? to : high;
    return from < to ? arch_map_range(BOOT_DIRECT_MAP + from, from, to - from, flags) : 0;
}

/* One run of memory, with the read-only part of the kernel image cut out of the writable rest. */
static int map_run(uint64_t from, uint64_t to, uint64_t read_only_from, uint64_t read_only_to)
{
    int error = map_direct(from, to, 0, read_only_from, ARCH_MAP_WRITE);
    if (!error)
        error = map_direct(from, to, read_only_from, read_only_to, 0);
    if (!error)
        error = map_direct(from, to, read_only_to, UINT64_MAX, ARCH_MAP_WRITE);
    return error;
}

/* What is left out (devices, firmware's reserved ranges) is reached through arch_map_device or arch_paging_reach. */
static int map_memory(const struct boot_info *info)
{
    const struct boot_memory *memory = arch_phys_to_virt(info->memory);
    uint64_t read_only_from = info->kernel_phys + ((uint64_t)kernel_text_start - info->kernel_virt);
    uint64_t read_only_to = info->kernel_phys + ((uint64_t)kernel_rodata_end - info->kernel_virt);
    uint64_t from = 0, to = 0; /* the run being gathered, so that large pages can cross ranges */

    for (uint32_t i = 0; i < info->memory_count; i++) {
        uint64_t base = memory[i].base, end = base + memory[i].size;
        base = base > to ? base : to; /* firmware may name a page twice */
        end = end < info->direct_map_size ? end : info->direct_map_size;
        if (!boot_memory_is_ram(memory[i].type) || base >= end)
            continue;
        if (base == to) {
            to = end;
            continue;
        }
        int error = map_run(from, to, read_only_from, read_only_to);
        if (error)
            return error;
        from = base;
        to = end;
    }
    return map_run(from, to, read_only_from, read_only_to);
}

static int map_image(const struct boot_info *info, const uint8_t *from, const uint8_t *to, unsigned flags)
{
    for (const uint8_t *at = from; at < to; at += ARCH_PAGE_SIZE) {
        if (arch_stack_is_guard(at))
            continue;
        uint64_t phys = info->kernel_phys + ((uint64_t)at - info->kernel_virt);
        int error = arch_map_at_level(arch_page_tables.root, 1, (uint64_t)at, phys, flags);
        if (error)
            return error;
    }
    return 0;
}

int arch_paging_init(const struct boot_info *info)
{
    uint32_t extended[4];

    arch_boot_info = info;
    arch_cpuid(0x80000008, 0, extended); /* every processor with long mode has it */
    arch_page_tables.phys_end = UINT64_C(1) << (extended[0] & CPUID_80000008_EAX_PHYSICAL_BITS);
    arch_cpuid(0x80000001, 0, extended);
    int error = arch_page_tables_begin(read_cr4() & CR4_LA57, extended[3] & CPUID_80000001_EDX_PAGE1GB);
    if (!error)
        error = map_memory(info);
    if (!error)
        error = map_image(info, kernel_text_start, kernel_text_end, ARCH_MAP_EXECUTE);
    if (!error)
        error = map_image(info, kernel_rodata_start, kernel_rodata_end, 0);
    if (!error)
        error = map_image(info, kernel_data_start, kernel_data_end, ARCH_MAP_WRITE);
    if (error)
        return error;
    write_cr3(arch_page_tables.root);
    return 0;
}

int arch_paging_identity(uint64_t copy, uint64_t phys)
{
    uint64_t *to = arch_table_at(copy);
    const uint64_t *from = arch_table_at(arch_page_tables.root);

    /* The kernel lives in the upper half; the lower half of its top table is empty. */
    for (unsigned i = 0; i < 512; i++)
        to[i] = from[i];
    return arch_map_at_level(copy, 1, phys, phys, ARCH_MAP_EXECUTE);
}

/* The entry that maps `virt` in the tables in force, and its level; 0 where not mapped. Works on the loader's tables
 * too, for they are reachable through the direct map. */
static uint64_t walk(uint64_t virt, unsigned *level)
{
    unsigned top = read_cr4() & CR4_LA57 ? 5 : 4;
    uint64_t entry = read_cr3();
    int64_t beyond = (int64_t)virt >> (12 + 9 * top - 1);

    if (beyond != 0 && beyond != -1)
        return 0; /* not canonical */
    for (unsigned at = top; at > 0; at--) {
        entry = arch_table_at(entry)[arch_level_index(virt, at)];
        if (!(entry & ENTRY_P))
            return 0;
        if (at == 1 || (at <= 3 && entry & ENTRY_PS)) {
            *level = at;
            return entry;
        }
    }
    return 0;
}

uint64_t arch_virt_to_phys(const void *virt)
{
    unsigned level;
    uint64_t entry = walk((uint64_t)virt, &level);

    if (!entry)
        return UINT64_MAX;
    uint64_t inside = arch_level_size(level) - 1;
    return (entry & ENTRY_ADDRESS & ~inside) | ((uint64_t)virt & inside);
}

/* Whether all entries are there, for supervisors only, and have these flags. */
static bool reaches(const void *virt, size_t size, uint64_t flags)
{
    uint64_t at = (uint64_t)virt;
    uint64_t last = at + size - 1;

    if (!size)
        return true;
    if (last < at)
        return false;
    for (;;) {
        unsigned level;
        uint64_t entry = walk(at, &level);
        if (!entry || entry & ENTRY_US || (entry & flags) != flags)
            return false;
        uint64_t page_last = at | (arch_level_size(level) - 1);
        if (page_last >= last)
            return true;
        at = page_last + 1;
    }
}

bool arch_readable(const void *virt, size_t size)
{
    return reaches(virt, size, 0);
}

bool arch_writable(const void *virt, size_t size)
{
    return reaches(virt, size, ENTRY_RW);
}

int arch_map_page(void *virt, uint64_t phys, unsigned flags)
{
    if (((uint64_t)virt | phys) & PAGE_MASK || phys >= arch_page_tables.phys_end)
        return -EINVAL;
    if (flags & ARCH_MAP_WRITE && flags & ARCH_MAP_EXECUTE)
        return -EINVAL;
    return arch_map_at_level(arch_page_tables.root, 1, (uint64_t)virt, phys, flags);
}

bool arch_is_memory(const struct boot_info *info, uint64_t phys, uint64_t size)
{
    const struct boot_memory *memory = arch_phys_to_virt(info->memory);

    if (size > UINT64_MAX - phys)
        size = UINT64_MAX - phys;
    for (uint32_t i = 0; i < info->memory_count; i++)
        if (boot_memory_is_ram(memory[i].type) && phys < memory[i].base + memory[i].size &&
            memory[i].base < phys + size)
            return true;
    return false;
}

/* What the direct map shows cached must not be mapped another way as well (SDM vol. 3, "Page Attribute Table"), and
 * what is written to a device would destroy what is there: no memory, whoever says that a device is there. */
void *arch_map_device_as(uint64_t phys, size_t size, unsigned flags)
{
    uint64_t first = phys & ~PAGE_MASK;
    uint64_t bytes = ((phys & PAGE_MASK) + size + PAGE_MASK) & ~PAGE_MASK;
    uint64_t skip =
        bytes < arch_level_size(2) ? 0 : (first - device_next) & (arch_level_size(2) - 1); /* for large pages */

    if (!size || phys >= arch_page_tables.phys_end || size > arch_page_tables.phys_end - phys ||
        bytes > LAYOUT_DEVICES_END - device_next || skip > LAYOUT_DEVICES_END - device_next - bytes ||
        arch_is_memory(arch_boot_info, phys, size))
        return NULL;
    uint64_t virt = device_next + skip;
    device_next = virt + bytes;
    if (arch_map_range(virt, first, bytes, ARCH_MAP_WRITE | flags))
        return NULL;
    return (void *)(virt + (phys & PAGE_MASK));
}

void *arch_map_device(uint64_t phys, size_t size)
{
    return arch_map_device_as(phys, size, ARCH_MAP_UNCACHED);
}

const void *arch_paging_reach(uint64_t phys, size_t size)
{
    uint64_t end = phys + size;

    if (end < phys || end > LAYOUT_DIRECT_MAP_END - BOOT_DIRECT_MAP)
        return NULL;
    for (uint64_t page = phys & ~PAGE_MASK; page < end; page += ARCH_PAGE_SIZE)
        if (!arch_readable(arch_phys_to_virt(page), 1) && arch_map_page(arch_phys_to_virt(page), page, 0))
            return NULL;
    return arch_phys_to_virt(phys);
}
