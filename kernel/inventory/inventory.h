/* SPDX-License-Identifier: MIT */
/* What the machine consists of. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Bytes of memory the firmware has left for use. Once all CPUs run. */
uint64_t kinventory_memory(void);
/* Of the first CPU. False: it has none, or nobody has looked yet. */
bool kinventory_microcode(uint64_t *version);
