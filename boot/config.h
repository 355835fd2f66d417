/* SPDX-License-Identifier: MIT */
/*
 * The few options of \cairn.cfg that the loader itself must know. Pure: the loader and the host's unit tests compile
 * the same code. The rules are those of the kernel's parser (kernel/options/parse.c), which reads the whole text after
 * it and refuses what is wrong: one name=value a line, '#' begins a comment, spaces around and CR are nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of option `name` in `config` (NUL-terminated), cut to `size` - 1 characters (size at least 1), of the last
 * line where there are several. False where no line sets it: `value` is then as it was. */
bool boot_config_get(const char *config, const char *name, char *value, size_t size);

/* A number as the kernel's options take it: decimal, or hexadecimal behind 0x, and nothing else. */
bool boot_config_number(const char *text, uint64_t *number);
