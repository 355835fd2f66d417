/* SPDX-License-Identifier: MIT */
/* The ELF-64 structures that the loader reads: System V ABI, "Object Files". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct elf64_header {
    uint8_t ident[16];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, phoff, shoff;
    uint32_t flags;
    uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};
_Static_assert(sizeof(struct elf64_header) == 64, "Elf64_Ehdr");

struct elf64_program_header {
    uint32_t type, flags;
    uint64_t offset, vaddr, paddr, filesz, memsz, align;
};
_Static_assert(sizeof(struct elf64_program_header) == 56, "Elf64_Phdr");

/* Whether `length` bytes at `offset` lie inside a file of `size` bytes. */
static inline bool elf64_inside(uint64_t offset, uint64_t length, uint64_t size)
{
    return offset <= size && length <= size - offset;
}
