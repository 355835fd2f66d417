/* SPDX-License-Identifier: MIT */
#include "boot/elf.h"

#include <stdbool.h>
#include <stddef.h>

#include "boot/elf64.h"
#include "boot/info.h"
#include "kernel/lib/errno.h"

enum {
    EI_CLASS = 4,
    EI_DATA = 5,
    ELFCLASS64 = 2,
    ELFDATA2LSB = 1,
    ET_EXEC = 2,
    EM_X86_64 = 62,
    PT_LOAD = 1,
};

static uint64_t page_down(uint64_t a)
{
    return a & ~(BOOT_PAGE_SIZE - 1);
}

static const char *check_header(const struct elf64_header *h, uint64_t size)
{
    if (h->ident[0] != 0x7F || h->ident[1] != 'E' || h->ident[2] != 'L' || h->ident[3] != 'F')
        return "not an ELF file";
    if (h->ident[EI_CLASS] != ELFCLASS64 || h->ident[EI_DATA] != ELFDATA2LSB || h->machine != EM_X86_64 ||
        h->type != ET_EXEC)
        return "not an executable for x86-64 with fixed addresses (ELF type ET_EXEC)";
    if (h->phentsize != sizeof(struct elf64_program_header))
        return "program headers of an unknown size";
    if (!elf64_inside(h->phoff, (uint64_t)h->phnum * h->phentsize, size))
        return "program headers beyond the end of the file: it is truncated";
    /* Linkers write the section headers last: this finds a file cut anywhere behind its segments. */
    if (h->shoff != 0 && !elf64_inside(h->shoff, (uint64_t)h->shnum * h->shentsize, size))
        return "section headers beyond the end of the file: it is truncated";
    return NULL;
}

/* Segments come in the order of their addresses, and are mapped by pages: none begins before `end`, where the pages of
 * the one before it end. */
static const char *check_segment(const struct elf64_program_header *p, uint64_t size, uint64_t end)
{
    if (p->filesz > p->memsz)
        return "segment larger in the file than in memory";
    if (!elf64_inside(p->offset, p->filesz, size))
        return "segment beyond the end of the file: it is truncated";
    if (p->vaddr < BOOT_KERNEL_BASE || p->memsz > BOOT_ELF_MAX_SPAN ||
        p->vaddr > UINT64_MAX - BOOT_ELF_MAX_SPAN - BOOT_PAGE_SIZE)
        return "segment outside the kernel's address range";
    if (page_down(p->vaddr) < end)
        return "segment overlaps the one before it, shares a page with it, or is out of order";
    if ((p->flags & BOOT_ELF_W) && (p->flags & BOOT_ELF_X))
        return "segment both writable and executable";
    return NULL;
}

static const char *check(const uint8_t *file, uint64_t size, struct boot_elf *elf, int *header)
{
    struct elf64_header h;
    if (size < sizeof(h))
        return "shorter than an ELF header";
    __builtin_memcpy(&h, file, sizeof(h));
    const char *reason = check_header(&h, size);
    if (reason != NULL)
        return reason;

    *elf = (struct boot_elf){.entry = h.entry};
    uint64_t end = 0;
    bool entry_is_code = false;
    for (uint16_t i = 0; i < h.phnum; i++) {
        struct elf64_program_header p;
        __builtin_memcpy(&p, file + h.phoff + (uint64_t)i * sizeof(p), sizeof(p));
        if (p.type != PT_LOAD || p.memsz == 0)
            continue;
        *header = i;
        if (elf->segment_count == BOOT_ELF_MAX_SEGMENTS)
            return "more segments than the loader supports";
        reason = check_segment(&p, size, end);
        if (reason != NULL)
            return reason;
        if (elf->segment_count == 0)
            elf->virt = page_down(p.vaddr);
        elf->segments[elf->segment_count++] = (struct boot_elf_segment){
            .virt = p.vaddr, .offset = p.offset, .file_size = p.filesz, .memory_size = p.memsz, .flags = p.flags};
        end = page_down(p.vaddr + p.memsz + BOOT_PAGE_SIZE - 1);
        entry_is_code |= (p.flags & BOOT_ELF_X) && h.entry >= p.vaddr && h.entry - p.vaddr < p.filesz;
    }
    *header = -1;
    if (elf->segment_count == 0)
        return "nothing to load";
    elf->size = end - elf->virt;
    if (elf->size > BOOT_ELF_MAX_SPAN)
        return "segments too far apart";
    return entry_is_code ? NULL : "entry point outside the executable segments";
}

int boot_elf_check(const void *file, uint64_t size, struct boot_elf *elf, const char **reason, int *header)
{
    *header = -1;
    *reason = check(file, size, elf, header);
    return *reason == NULL ? 0 : -EINVAL;
}
