/* SPDX-License-Identifier: MIT */
/* Symbols of the kernel's functions and variables, and of the functions of its ring 3 programs, from the .symtab of the
 * ELF file that the loader keeps. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* *at: the address of the function or variable of this name. False: there is none. Any context. */
bool ksymbols_find(const char *name, uint64_t *at);
