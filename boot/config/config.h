/* SPDX-License-Identifier: MIT */
/*
 * Reads the few options of \cairn.cfg that the loader itself needs. Pure: the loader and the host's unit tests compile
 * the same code. The rules are those of the kernel's parser (kernel/options/parse.c), which reads the whole text later
 * and refuses what is wrong: one name=value on each line, '#' begins a comment, spaces around words and CR are ignored.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of option `name` in `config` (NUL-terminated), cut to `size` - 1 characters (size at least 1). If several
 * lines set it, the last one counts. Characters that are not printable ASCII, which the kernel refuses, become '?'.
 * False if no line sets it: `value` is unchanged then. */
bool config_get(const char *config, const char *name, char *value, size_t size);
