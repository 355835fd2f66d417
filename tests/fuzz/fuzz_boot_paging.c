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

#include "boot/info.h"
#include "boot/paging.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define GIB        (UINT64_C(1) << 30)
#define MOST       256u /* pages of tables that are made; more are counted only */
#define MUST(what) ((what) ? (void)0 : abort())

enum { GIGABYTE_PAGES = 1, FIVE_LEVELS = 2 };

static uint64_t cr3;
static int levels;

/* Physical address with the bits RW and XD as all levels give them, and P; 0 where nothing is mapped. */
static uint64_t walk(uint64_t virt)
{
    uint64_t table = cr3, writable = BOOT_PTE_RW, xd = 0;
    for (int level = levels - 1;; level--) {
        const uint64_t entry = ((const uint64_t *)(uintptr_t)table)[virt >> (12 + 9 * level) & 511];
        const uint64_t inside = (UINT64_C(1) << (12 + 9 * level)) - 1;
        if (!(entry & BOOT_PTE_P))
            return 0;
        writable &= entry;
        xd |= entry & BOOT_PTE_XD;
        if (level == 0 || entry & BOOT_PTE_PS) {
            MUST(level <= 2 && (entry & BOOT_PTE_ADDRESS & inside) == 0);
            return (entry & BOOT_PTE_ADDRESS) | (virt & inside & BOOT_PTE_ADDRESS) | writable | xd | BOOT_PTE_P;
        }
        table = entry & BOOT_PTE_ADDRESS;
    }
}

static bool is_reached(const struct boot_paging *p, uint64_t gib)
{
    return gib < BOOT_GIBS && p->gibs.bits[gib / 64] >> gib % 64 & 1;
}

static void check_page(const struct boot_paging *p, uint64_t phys)
{
    const uint64_t page = phys & ~UINT64_C(4095);
    if (phys >= BOOT_GIBS * GIB)
        return;
    const bool there = is_reached(p, phys / GIB);
    MUST(walk(page) == (there ? page | BOOT_PTE_P | BOOT_PTE_RW : 0));
    MUST(walk(BOOT_DIRECT_MAP + page) == (there ? page | BOOT_PTE_P | BOOT_PTE_RW | BOOT_PTE_XD : 0));
}

static void check_kernel(const struct boot_paging *p)
{
    for (uint64_t at = 0; at < p->elf->size; at += BOOT_PAGE_SIZE) {
        const uint64_t virt = p->elf->virt + at;
        uint64_t expected = 0;
        for (uint32_t i = 0; i < p->elf->segment_count; i++) {
            const struct boot_elf_segment *s = &p->elf->segments[i];
            if (virt + BOOT_PAGE_SIZE > s->virt && virt < s->virt + s->memory_size)
                expected = (p->kernel_phys + at) | BOOT_PTE_P | (s->flags & BOOT_ELF_W ? BOOT_PTE_RW : 0) |
                           (s->flags & BOOT_ELF_X ? 0 : BOOT_PTE_XD);
        }
        MUST(walk(virt) == expected);
    }
    MUST(!walk(p->elf->virt - BOOT_PAGE_SIZE) && !walk(p->elf->virt + p->elf->size));
}

/* Around each range of the map, and around the GiBs that are reached: of many side by side, the ends and some. */
static void check_memory(const struct boot_paging *p, const struct boot_efi_map *map)
{
    for (size_t at = 0; map->stride <= map->size - at; at += map->stride) {
        struct boot_efi_memory d;
        memcpy(&d, (const uint8_t *)map->descriptors + at, sizeof d);
        const uint64_t start = d.physical_start, end = start + d.pages * BOOT_PAGE_SIZE;
        const bool sound = d.pages && start % BOOT_PAGE_SIZE == 0 && start < UINT64_C(1) << 52 &&
                           d.pages <= ((UINT64_C(1) << 52) - start) / BOOT_PAGE_SIZE;
        if (sound && boot_memory_is_ram(d.type) && start < BOOT_GIBS * GIB)
            MUST(is_reached(p, start / GIB) && (end > BOOT_GIBS * GIB || is_reached(p, (end - 1) / GIB)));
        check_page(p, start);
        check_page(p, start - BOOT_PAGE_SIZE);
        check_page(p, end);
        check_page(p, end - 1);
        check_page(p, start / 2 + end / 2);
    }
    for (uint64_t n = 0; n < BOOT_GIBS; n += p->gibs.bits[n / 64] >> n % 64 > 1 ? 1 : 64 - n % 64)
        if (is_reached(p, n) && (n % 64 == 0 || !is_reached(p, n - 1) || !is_reached(p, n + 1))) {
            check_page(p, n * GIB);
            check_page(p, n * GIB + GIB - 1);
            check_page(p, n * GIB + GIB);
            check_page(p, n * GIB - 1);
        }
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
    static struct boot_paging p;
    p = (struct boot_paging){.gigabyte_pages = data[0] & GIGABYTE_PAGES,
                             .five_levels = data[0] & FIVE_LEVELS,
                             .elf = &elf,
                             .kernel_phys = (data[2] | data[3] << 8) * BOOT_PAGE_SIZE};
    uint8_t *bytes = malloc(size - 4 + 1);
    MUST(bytes);
    memcpy(bytes, data + 4, size - 4);
    const struct boot_efi_map map = {.descriptors = bytes, .size = size - 4, .stride = sizeof(struct boot_efi_memory)};
    boot_memory_gibs(&map, &p.gibs);

    uint64_t gibs = 0;
    for (uint64_t n = 0; n < BOOT_GIBS / 64; n++)
        gibs += (uint64_t)__builtin_popcountll(p.gibs.bits[n]);
    const uint64_t pages = boot_paging_pages(&p), bytes_reached = boot_paging_direct_size(&p);
    MUST(gibs >= 4 && is_reached(&p, bytes_reached / GIB - 1) && !is_reached(&p, bytes_reached / GIB));
    MUST(pages <= (p.gigabyte_pages ? 128 : 128 + gibs) + 8);
    if (pages <= MOST) {
        void *memory = aligned_alloc(BOOT_PAGE_SIZE, pages * BOOT_PAGE_SIZE);
        MUST(memory);
        memset(memory, 0, pages * BOOT_PAGE_SIZE);
        cr3 = boot_paging_build(&p, memory, pages);
        levels = p.five_levels ? 5 : 4;
        check_kernel(&p);
        check_memory(&p, &map);
        free(memory);
    }
    free(bytes);
    return 0;
}
