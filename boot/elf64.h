/* SPDX-License-Identifier: MIT */
/* The ELF-64 structures that the loader and the kernel's symbol table read: System V ABI, "Object Files". */
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

struct elf64_section_header {
    uint32_t name, type;
    uint64_t flags, addr, offset, size;
    uint32_t link, info;
    uint64_t addralign, entsize;
};
_Static_assert(sizeof(struct elf64_section_header) == 64, "Elf64_Shdr");

struct elf64_symbol {
    uint32_t name;
    uint8_t info, other;
    uint16_t shndx;
    uint64_t value, size;
};
_Static_assert(sizeof(struct elf64_symbol) == 24, "Elf64_Sym");

/* Whether `length` bytes at `offset` lie inside a file of `size` bytes. */
static inline bool elf64_inside(uint64_t offset, uint64_t length, uint64_t size)
{
    return offset <= size && length <= size - offset;
}
