/* SPDX-License-Identifier: MIT */
/*
 * The loader's page tables for any memory map. The input: what the processor can, where the kernel goes, then the
 * map's descriptors (boot/memory.h). The tables are walked as the processor does: each GiB that holds memory is there
 * twice, the others are not, and tables are made for nothing else.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arch/page_tables.h"
#include "arch/upcalls.h"
#include "boot/info.h"
#include "boot/paging.h"
#include "kernel/lib/errno.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define GIB        (UINT64_C(1) << 30)
#define MOST       256u /* pages of tables that there are */
#define MUST(what) ((what) ? (void)0 : abort())

enum { GIGABYTE_PAGES = 1, FIVE_LEVELS = 2 };

static uint8_t memory[MOST][4096] __attribute__((aligned(4096)));
static uint64_t pages, bytes_reached;

uint64_t kernel_page_permanent(void)
{
    return pages < MOST ? (uintptr_t)memory[pages++] : 0;
}

/* Physical address with the bits RW and XD as all levels give them, and P; 0 where nothing is mapped. */
static uint64_t walk(uint64_t virt)
{
    uint64_t table = arch_page_tables.root, writable = ENTRY_RW, xd = 0;
    for (int level = (int)arch_page_tables.levels - 1;; level--) {
        const uint64_t entry = ((const uint64_t *)(uintptr_t)table)[virt >> (12 + 9 * level) & 511];
        const uint64_t inside = (UINT64_C(1) << (12 + 9 * level)) - 1;
        if (!(entry & ENTRY_P))
            return 0;
        writable &= entry;
        xd |= entry & ENTRY_XD;
        if (level == 0 || entry & ENTRY_PS) {
            MUST(level <= 2 && (entry & ENTRY_ADDRESS & inside) == 0);
            return (entry & ENTRY_ADDRESS) | (virt & inside & ENTRY_ADDRESS) | writable | xd | ENTRY_P;
        }
        table = entry & ENTRY_ADDRESS;
    }
}

/* The GiBs that are to be there, by the map. */
static bool is_reached(const struct boot_efi_map *map, uint64_t gib)
{
    if (gib < 4)
        return true;
    for (size_t at = 0; map->stride <= map->size - at; at += map->stride) {
        struct boot_efi_memory d;
        memcpy(&d, (const uint8_t *)map->descriptors + at, sizeof d);
        const uint64_t start = d.physical_start;
        if (boot_memory_is_ram(d.type) && d.pages && start % BOOT_PAGE_SIZE == 0 && start < UINT64_C(1) << 52 &&
            d.pages <= ((UINT64_C(1) << 52) - start) / BOOT_PAGE_SIZE && start / GIB <= gib &&
            gib <= (start + d.pages * BOOT_PAGE_SIZE - 1) / GIB)
            return true;
    }
    return false;
}

static void check_page(const struct boot_efi_map *map, uint64_t phys)
{
    const uint64_t page = phys & ~UINT64_C(4095);
    if (phys >= BOOT_END)
        return;
    const bool there = is_reached(map, phys / GIB);
    MUST(!there || phys < bytes_reached);
    MUST(walk(page) == (there ? page | ENTRY_P | ENTRY_RW : 0));
    MUST(walk(BOOT_DIRECT_MAP + page) == (there ? page | ENTRY_P | ENTRY_RW | ENTRY_XD : 0));
}

static void check_kernel(const struct boot_elf *elf, uint64_t kernel_phys)
{
    for (uint64_t at = 0; at < elf->size; at += BOOT_PAGE_SIZE) {
        const uint64_t virt = elf->virt + at;
        uint64_t expected = 0;
        for (uint32_t i = 0; i < elf->segment_count; i++) {
            const struct boot_elf_segment *s = &elf->segments[i];
            if (virt + BOOT_PAGE_SIZE > s->virt && virt < s->virt + s->memory_size)
                expected = (kernel_phys + at) | ENTRY_P | (s->flags & BOOT_ELF_W ? ENTRY_RW : 0) |
                           (s->flags & BOOT_ELF_X ? 0 : ENTRY_XD);
        }
        MUST(walk(virt) == expected);
    }
    MUST(!walk(elf->virt - BOOT_PAGE_SIZE) && !walk(elf->virt + elf->size));
}

/* Around each range of the map, and around the direct map's end. */
static void check_memory(const struct boot_efi_map *map)
{
    for (size_t at = 0; map->stride <= map->size - at; at += map->stride) {
        struct boot_efi_memory d;
        memcpy(&d, (const uint8_t *)map->descriptors + at, sizeof d);
        const uint64_t start = d.physical_start, end = start + d.pages * BOOT_PAGE_SIZE;
        const uint64_t places[] = {start, start - BOOT_PAGE_SIZE, end, end - 1, start / 2 + end / 2};
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            check_page(map, places[i]);
            check_page(map, places[i] / GIB * GIB);
            check_page(map, places[i] / GIB * GIB - 1);
            check_page(map, places[i] / GIB * GIB + GIB);
        }
    }
    MUST(bytes_reached % GIB == 0 && is_reached(map, bytes_reached / GIB - 1));
    MUST(bytes_reached == BOOT_END || !is_reached(map, bytes_reached / GIB));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    const uint64_t virt = BOOT_KERNEL_BASE + data[1] * UINT64_C(0x1F000);
    const struct boot_elf elf = {
        .virt = virt,
        .size = 0x6000,
        .segment_count = 3,
        .segments = {{.virt = virt, .memory_size = 0x1001, .flags = BOOT_ELF_R | BOOT_ELF_X},
                     {.virt = virt + 0x2FFF, .memory_size = 1, .flags = BOOT_ELF_R},
                     {.virt = virt + 0x4010, .memory_size = 0x1FF0, .flags = BOOT_ELF_R | BOOT_ELF_W}},
    };
    const uint64_t kernel_phys = (data[2] | data[3] << 8) * BOOT_PAGE_SIZE;
    uint8_t *bytes = malloc(size - 4 + 1);
    MUST(bytes);
    memcpy(bytes, data + 4, size - 4);
    const struct boot_efi_map map = {.descriptors = bytes, .size = size - 4, .stride = sizeof(struct boot_efi_memory)};
    memset(memory, 0, pages * sizeof memory[0]);
    pages = 0;
    MUST(arch_page_tables_begin(data[0] & FIVE_LEVELS, data[0] & GIGABYTE_PAGES) == 0);
    const int error = boot_paging_build(&map, &elf, kernel_phys, &bytes_reached);
    MUST(!error || (error == -ENOMEM && pages == MOST));
    if (!error) {
        check_kernel(&elf, kernel_phys);
        check_memory(&map);
    }
    free(bytes);
    return 0;
}
