/* SPDX-License-Identifier: MIT */
/* What every fuzzer of the reader does with a log: all the commands that read one, what they print thrown away, and all
 * formats of export; without a filter and with one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Reads `size` bytes as a log and walks everything in it. */
void fuzz_read_all(const char *data, size_t size);
/* Reads `size` bytes as a log, and walks everything in it when `then` is there instead. `agree`: its frames'
 * checksums are taken for those there were. */
void fuzz_read_changed(char *data, size_t size, const char *then, size_t then_size, bool agree);
/* What `cairn diff` says of two logs, and of the first and itself. */
void fuzz_compare(const char *data, size_t size, const char *then, size_t then_size);
