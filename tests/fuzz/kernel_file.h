/* SPDX-License-Identifier: MIT */
/* A kernel's ELF file for a log that nobody's kernel wrote: what --elf is given. */
#pragma once

#include "tools/cairn/log/log.h"

/* Where the file lies whose build ID is the one that the log says; it is good until the next call. NULL: what the log
 * says cannot be one. All its addresses hold code, of every kind of branch among others; it has no names and no lines,
 * those are the log's. */
const char *fuzz_kernel_file(const struct cairn_log *log);
