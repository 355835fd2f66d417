/* SPDX-License-Identifier: MIT */
/* Functions and source lines from an ELF file with DWARF (elfutils), when the log's own symbols are not enough. */
#pragma once

#include <stdint.h>

#include "tools/cairn/log/show.h"

struct cairn_elf;

/* 0, or the exit status, the reason told: no ELF file that can be read, or not of the build that wrote the log, by its
 * build ID. Where the log has none to compare, that is told, and it is opened. */
int cairn_elf_open(struct cairn_elf **elf, const char *path, const struct cairn_log *log);
/* Whether the file has a line table at all (the kernel's own has none: build/kernel.elf.full has). */
bool cairn_elf_has_lines(struct cairn_elf *elf);
void cairn_elf_close(struct cairn_elf *elf);

/* Adds its functions and variables to the symbols of `text`, which keeps their names. */
void cairn_elf_symbols(struct cairn_elf *elf, struct cairn_text *text);

/* "function+0x1c", NULL: not in this file. */
const char *cairn_elf_function(struct cairn_elf *elf, uint64_t address, char out[CAIRN_SHOWN]);
/* The function that holds the address, without an offset: by the file (NULL: none was given), else by the log's own
 * symbols. NULL: unknown. */
const char *cairn_function_name(const struct cairn_log *log, struct cairn_elf *elf, uint64_t address,
                                char out[CAIRN_SHOWN]);
/* "kernel/sched/sched.c:123", NULL: no line information. */
const char *cairn_elf_line(struct cairn_elf *elf, uint64_t address, char out[CAIRN_SHOWN]);
/* Whether it is known to be the file of the kernel that wrote the log, by its build ID. */
bool cairn_elf_same_build(const struct cairn_elf *elf);
/* Where a section's bytes are in the file, and the file's full path, to be freed by the caller. False: there is none.
 */
bool cairn_elf_section(struct cairn_elf *elf, const char *name, uint64_t *offset, uint64_t *size, char **path);
/* Bytes of code at the address, at most `size`; 0: it is not in this file. */
size_t cairn_elf_code(struct cairn_elf *elf, uint64_t address, uint8_t *code, size_t size);
