/* SPDX-License-Identifier: MIT */
/* What the machine consists of. */
#pragma once

#include <stdint.h>

/* Bytes of memory the firmware has left for use. Once all CPUs run. */
uint64_t kinventory_memory(void);
