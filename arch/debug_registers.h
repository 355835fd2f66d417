/* SPDX-License-Identifier: MIT */
/* Breakpoints in registers. SDM vol. 3, "Debug Registers". */
#pragma once

#include <stdint.h>

#include "arch/register_access.h"

#define DR6_NONE   UINT64_C(0xFFFF0FF0) /* nothing has happened; bits 0 to 3: that breakpoint was reached */
#define DR6_POINTS UINT64_C(0xF)
#define DR7_G0     (UINT64_C(1) << 1) /* << 2 * n: breakpoint n is on, here of one instruction */

/* The address of breakpoint n, 0 to 3. */
static inline void write_dr(unsigned n, uint64_t v)
{
    switch (n) {
    case 0:
        __asm__ volatile("movq %0, %%dr0" ::"r"(v));
        break;
    case 1:
        __asm__ volatile("movq %0, %%dr1" ::"r"(v));
        break;
    case 2:
        __asm__ volatile("movq %0, %%dr2" ::"r"(v));
        break;
    default:
        __asm__ volatile("movq %0, %%dr3" ::"r"(v));
    }
}

static inline uint64_t read_dr6(void)
{
    uint64_t v;
    __asm__ volatile("movq %%dr6, %0" : "=r"(v));
    return v;
}

static inline void write_dr6(uint64_t v)
{
    __asm__ volatile("movq %0, %%dr6" ::"r"(v));
}
