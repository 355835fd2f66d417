/* SPDX-License-Identifier: MIT */
/* Proofs about the loader's ELF check (boot/elf.h). */
#include "boot/elf.h"

#include "boot/elf64.h"

#define MOST 9u /* headers: one more than there may be segments */
static uint8_t file[sizeof(struct elf64_header) + MOST * sizeof(struct elf64_program_header) + 1];

/* A file of `size` bytes that has room for `most` program headers. Each number of them that fits is tried by itself,
 * all others at once. Where they are, and anything else, is any value. */
static void elf(uint64_t size, uint16_t most)
{
    uint16_t kind = Frama_C_unsigned_short_interval(0, most + 1);
    struct boot_elf elf;
    const char *reason;
    int header;
    uint16_t phnum;
    PROVE_ANY(file);
    //@ split kind;
    phnum = kind <= most ? kind : Frama_C_unsigned_short_interval(most + 1, UINT16_MAX);
    if (size >= sizeof(struct elf64_header))
        memcpy(PROVE_LAST(file, size) + offsetof(struct elf64_header, phnum), &phnum, sizeof(phnum));
    const int e = boot_elf_check(PROVE_LAST(file, size), size, &elf, &reason, &header);
    //@ check result: e == 0 || e == -EINVAL;
    //@ check segments: e != 0 || 1 <= elf.segment_count <= BOOT_ELF_MAX_SEGMENTS;
    //@ check span: e != 0 || elf.size <= BOOT_ELF_MAX_SPAN;
    //@ check header: -1 <= header < 65535;
    PROVE_END();
}

void boot_elf_small(void)
{
    uint64_t size = Frama_C_unsigned_long_interval(0, 124);
    //@ split size;
    elf(size, 124 / sizeof(struct elf64_program_header));
}

void boot_elf_large(void)
{
    elf(sizeof(file), sizeof(file) / sizeof(struct elf64_program_header));
}
