/* SPDX-License-Identifier: MIT */
/* The processor's name. Source: SDM vol. 2, "CPUID", "The Processor Brand String Method". */
#pragma once

#include "arch/instructions.h"

#define ARCH_BRAND 49u /* bytes */

/* Without blanks around it; "": there is none. Within `room`. It needs no library: the loader has a small one. */
static inline const char *arch_brand(char room[ARCH_BRAND])
{
    uint32_t r[4];
    size_t size = 0;
    arch_cpuid(0x80000000, 0, r);
    const uint32_t last = r[0] >= 0x80000004 ? 0x80000004 : 0;
    for (uint32_t leaf = 0x80000002; leaf <= last; leaf++, size += sizeof r) {
        arch_cpuid(leaf, 0, r);
        __builtin_memcpy(room + size, r, sizeof r);
    }
    room[size] = '\0';
    while (*room == ' ')
        room++;
    size = 0;
    while (room[size])
        size++;
    while (size && room[size - 1] == ' ')
        room[--size] = '\0';
    return room;
}
