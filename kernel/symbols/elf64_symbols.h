/* SPDX-License-Identifier: MIT */
/* The ELF-64 structures that only the kernel's symbol table reads, beside those of boot/elf64.h. */
#pragma once

#include "boot/elf64.h"

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
