/* SPDX-License-Identifier: MIT */
/* Symbols of the kernel's functions and variables, and of the functions of its ring 3 programs, from the .symtab of the
 * ELF file that the loader keeps. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "boot/info.h"

struct ksymbol {
    uint64_t address;
    uint32_t size;
    uint32_t name;
};

/* Builds the sorted table. After kmem_init. Without a usable symbol table there are no names, and one line says why. */
void ksymbols_init(const struct boot_info *info);
uint32_t ksymbols_count(void);
const struct ksymbol *ksymbols_get(uint32_t i); /* ascending by address */
const char *ksymbols_name(const struct ksymbol *symbol);
/* The function or variable `address` lies in, or NULL. Any context. */
const struct ksymbol *ksymbols_find(uint64_t address);
