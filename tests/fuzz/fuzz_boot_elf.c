/* SPDX-License-Identifier: MIT */
/*
 * The kernel's file as the loader reads it: the input is the file. What is not refused can be copied as boot/main.c
 * does, into a block of exactly its size, and mapped: no page is both writable and executable, none is of two segments,
 * and the entry point is code of the file.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arch/page_tables.h"
#include "arch/upcalls.h"
#include "boot/elf.h"
#include "boot/info.h"
#include "boot/paging.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SMALL      (UINT64_C(1) << 20) /* kernels that are loaded; larger ones are described only */
#define MUST(what) ((what) ? (void)0 : abort())

static uint8_t memory[32][4096] __attribute__((aligned(4096))); /* of page tables */
static uint64_t pages;

uint64_t kernel_page_permanent(void)
{
    return pages < sizeof memory / sizeof memory[0] ? (uintptr_t)memory[pages++] : 0;
}

static void check_segments(const struct boot_elf *elf, uint64_t size)
{
    bool entry = false;
    MUST(elf->segment_count >= 1 && elf->segment_count <= BOOT_ELF_MAX_SEGMENTS);
    MUST(elf->virt >= BOOT_KERNEL_BASE && elf->virt % BOOT_PAGE_SIZE == 0);
    MUST(elf->size && elf->size % BOOT_PAGE_SIZE == 0 && elf->size <= BOOT_ELF_MAX_SPAN);
    MUST(elf->size <= 0 - elf->virt);
    for (uint32_t i = 0; i < elf->segment_count; i++) {
        const struct boot_elf_segment *s = &elf->segments[i];
        MUST(s->memory_size && s->file_size <= s->memory_size);
        MUST(s->offset <= size && s->file_size <= size - s->offset);
        MUST(s->virt >= elf->virt && s->virt - elf->virt < elf->size);
        MUST(s->memory_size <= elf->size - (s->virt - elf->virt));
        MUST(!(s->flags & BOOT_ELF_W) || !(s->flags & BOOT_ELF_X));
        entry |= s->flags & BOOT_ELF_X && elf->entry >= s->virt && elf->entry - s->virt < s->file_size;
        for (uint32_t k = 0; k < i; k++) {
            const struct boot_elf_segment *t = &elf->segments[k];
            MUST((s->virt + s->memory_size - 1) / BOOT_PAGE_SIZE < t->virt / BOOT_PAGE_SIZE ||
                 (t->virt + t->memory_size - 1) / BOOT_PAGE_SIZE < s->virt / BOOT_PAGE_SIZE);
        }
    }
    MUST(entry);
}

static void load(const struct boot_elf *elf, const uint8_t *file)
{
    uint8_t *block = malloc(elf->size);
    MUST(block);
    for (uint32_t i = 0; i < elf->segment_count; i++) {
        const struct boot_elf_segment *s = &elf->segments[i];
        memcpy(block + (s->virt - elf->virt), file + s->offset, s->file_size);
    }
    free(block);
    const struct boot_efi_map none = {.stride = sizeof(struct boot_efi_memory)};
    uint64_t direct_size;
    memset(memory, 0, pages * sizeof memory[0]);
    pages = 0;
    MUST(arch_page_tables_begin(false, true) == 0);
    MUST(boot_paging_build(&none, elf, 0x100000, &direct_size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct boot_elf elf;
    const char *reason = "";
    int header = -2;
    uint8_t *file = malloc(size + 1); /* hardly larger: reading beyond it is seen */
    MUST(file);
    memcpy(file, data, size);
    const int refused = boot_elf_check(file, size, &elf, &reason, &header);
    MUST(!refused == !reason && header >= -1 && header <= UINT16_MAX);
    if (!refused) {
        MUST(header == -1);
        check_segments(&elf, size);
        if (elf.size <= SMALL)
            load(&elf, file);
    }
    free(file);
    return 0;
}
