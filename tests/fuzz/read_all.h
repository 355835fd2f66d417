/* SPDX-License-Identifier: MIT */
/* What every fuzzer of the reader does with a log: all the commands, what they print thrown away. */
#pragma once

#include <stddef.h>

/* Reads `size` bytes as a log and walks everything in it. */
void fuzz_read_all(const char *data, size_t size);
