/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* As arch_map_device, for a framebuffer, write-combining: writes gather until arch_map_flush, reads are slow. */
void *arch_map_framebuffer(uint64_t phys, size_t size);
/* What this CPU has written into a framebuffer is on its way there. */
void arch_map_flush(void);
