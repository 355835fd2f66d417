/* SPDX-License-Identifier: MIT */
#include "arch/screen/framebuffer.h"

#include "arch/internal.h"
#include "arch/page_tables.h"

void *arch_map_framebuffer(uint64_t phys, size_t size)
{
    return arch_map_device_as(phys, size, ARCH_MAP_COMBINING);
}

void arch_map_flush(void)
{
    __asm__ volatile("sfence" ::: "memory");
}
