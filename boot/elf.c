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

static uint64_t page_up(uint64_t a)
{
    return page_down(a + BOOT_PAGE_SIZE - 1);
}

static const char *check_header(const struct elf64_header *h, uint64_t size)
{
    if (h->ident[0] != 0x7F || h->ident[1] != 'E' || h->ident[2] != 'L' || h->ident[3] != 'F')
        return "not an ELF file";
    if (h->ident[EI_CLASS] != ELFCLASS64)
        return "not a 64-bit ELF file";
    if (h->ident[EI_DATA] != ELFDATA2LSB)
        return "not a little-endian ELF file";
    if (h->machine != EM_X86_64)
        return "made for another processor than x86-64";
    if (h->type != ET_EXEC)
        return "not an executable with fixed addresses (ELF type ET_EXEC)";
    if (h->phentsize != sizeof(struct elf64_program_header))
        return "program headers of an unknown size";
    if (!elf64_inside(h->phoff, (uint64_t)h->phnum * h->phentsize, size))
        return "program headers beyond the end of the file: it is truncated";
    /* Linkers write the section headers last: this finds a file cut anywhere behind its segments. */
    if (h->shoff != 0 && !elf64_inside(h->shoff, (uint64_t)h->shnum * h->shentsize, size))
        return "section headers beyond the end of the file: it is truncated";
    return NULL;
}

static const char *check_segment(const struct elf64_program_header *p, uint64_t size)
{
    if (p->filesz > p->memsz)
        return "segment larger in the file than in memory";
    if (!elf64_inside(p->offset, p->filesz, size))
        return "segment beyond the end of the file: it is truncated";
    if (p->vaddr < BOOT_KERNEL_BASE)
        return "segment below the kernel's address range";
    if (p->memsz > BOOT_ELF_MAX_SPAN || p->vaddr > UINT64_MAX - BOOT_ELF_MAX_SPAN - BOOT_PAGE_SIZE)
        return "segment too large, or too near the end of the address space";
    if ((p->flags & BOOT_ELF_W) && (p->flags & BOOT_ELF_X))
        return "segment both writable and executable";
    return NULL;
}

/* Permissions are per page, so two segments in one page are an overlap as well. */
static bool shares_page(const struct boot_elf *elf, const struct elf64_program_header *p)
{
    for (uint32_t i = 0; i < elf->segment_count; i++) {
        const struct boot_elf_segment *s = &elf->segments[i];
        uint64_t end = s->virt + s->memory_size;
        if (page_down(p->vaddr) < page_up(end) && page_down(s->virt) < page_up(p->vaddr + p->memsz))
            return true;
    }
    return false;
}

static bool entry_is_code(const struct boot_elf *elf)
{
    for (uint32_t i = 0; i < elf->segment_count; i++) {
        const struct boot_elf_segment *s = &elf->segments[i];
        if ((s->flags & BOOT_ELF_X) && elf->entry >= s->virt && elf->entry - s->virt < s->file_size)
            return true;
    }
    return false;
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

    *elf = (struct boot_elf){.entry = h.entry, .virt = UINT64_MAX};
    uint64_t end = 0;
    for (uint16_t i = 0; i < h.phnum; i++) {
        struct elf64_program_header p;
        __builtin_memcpy(&p, file + h.phoff + (uint64_t)i * sizeof(p), sizeof(p));
        if (p.type != PT_LOAD || p.memsz == 0)
            continue;
        *header = i;
        if (elf->segment_count == BOOT_ELF_MAX_SEGMENTS)
            return "more segments than the loader supports";
        reason = check_segment(&p, size);
        if (reason != NULL)
            return reason;
        if (shares_page(elf, &p))
            return "segment overlaps another one, or shares a page with it";
        elf->segments[elf->segment_count++] = (struct boot_elf_segment){
            .virt = p.vaddr, .offset = p.offset, .file_size = p.filesz, .memory_size = p.memsz, .flags = p.flags};
        if (elf->virt > page_down(p.vaddr))
            elf->virt = page_down(p.vaddr);
        if (end < page_up(p.vaddr + p.memsz))
            end = page_up(p.vaddr + p.memsz);
    }
    *header = -1;
    if (elf->segment_count == 0)
        return "nothing to load";
    elf->size = end - elf->virt;
    if (elf->size > BOOT_ELF_MAX_SPAN)
        return "segments too far apart";
    if (!entry_is_code(elf))
        return "entry point outside the executable segments";
    return NULL;
}

int boot_elf_check(const void *file, uint64_t size, struct boot_elf *elf, const char **reason, int *header)
{
    *header = -1;
    *reason = check(file, size, elf, header);
    return *reason == NULL ? 0 : -EINVAL;
}
