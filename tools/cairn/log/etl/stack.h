/* SPDX-License-Identifier: MIT */
/* Call stacks that Windows recorded: addresses, the innermost first. */
#pragma once

#include "tools/cairn/log/etl/values.h"
#include "tools/cairn/log/show.h"

#define CAIRN_STACK_TEXT 8192u

/* All addresses of `pointer` bytes each, by images where they are known: "ntoskrnl.exe+0x1230 < ...". `pid`: whose they
 * are below the kernel's, or CAIRN_NO_TID. A text that would be longer ends in "...". */
const char *cairn_stack_text(char out[CAIRN_STACK_TEXT], const struct cairn_log *log, uint32_t pid, int64_t time,
                             struct cairn_bytes addresses, unsigned pointer);
/* One of them. */
const char *cairn_stack_place(char out[CAIRN_SHOWN], const struct cairn_log *log, uint32_t pid, int64_t time,
                              uint64_t address);
