/* SPDX-License-Identifier: MIT */
/*
 * Checks the kernel's ELF file and says what must be loaded. Pure: it only reads bytes, allocates nothing and calls
 * nothing; the loader and the host's unit tests compile the same code. It trusts no byte of the file. Source: System V
 * ABI, "Object Files" and "Program Loading", and its AMD64 supplement.
 */
#pragma once

#include <stdint.h>

#define BOOT_ELF_MAX_SEGMENTS 8u
#define BOOT_ELF_MAX_SPAN     (UINT64_C(256) << 20) /* bytes from the first to the last loaded address */
#define BOOT_PAGE_SIZE        UINT64_C(4096)

/* Program header flags (p_flags). */
#define BOOT_ELF_X 1u
#define BOOT_ELF_W 2u
#define BOOT_ELF_R 4u

struct boot_elf_segment {
    uint64_t virt;
    uint64_t offset; /* in the file */
    uint64_t file_size;
    uint64_t memory_size; /* never below file_size; what is beyond it is zero */
    uint32_t flags;       /* BOOT_ELF_*, never W and X together */
};

struct boot_elf {
    uint64_t entry; /* inside the file's part of an executable segment */
    uint64_t virt;  /* the pages of all segments: first address, a multiple of 4096 */
    uint64_t size;  /* and bytes, a multiple of 4096 */
    uint32_t segment_count;
    struct boot_elf_segment segments[BOOT_ELF_MAX_SEGMENTS]; /* ascending, no two share a page */
};

/* 0, or -EINVAL with *reason (a constant sentence) and *header, the program header it is about or -1. */
int boot_elf_check(const void *file, uint64_t size, struct boot_elf *elf, const char **reason, int *header);
