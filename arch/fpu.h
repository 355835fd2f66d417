/* SPDX-License-Identifier: MIT */
/*
 * The registers of x87, MMX and SSE. The compiler uses none of them for the kernel. They belong to the programs in ring
 * 3: each switch from or to a program saves and loads them. A kernel thread runs with what the last program on its CPU
 * left in them. SDM vol. 1, "FXSAVE Area". (If no exception is pending, AMD's FXSAVE does not save the addresses of the
 * last x87 instruction and operand: a program may see those of another program.)
 */
#pragma once

#include <stdint.h>

#include "kernel/lib/string.h"

#define FPU_FCW         0 /* where in the image */
#define FPU_MXCSR       24
#define FPU_XMM         160
#define FPU_FCW_CLEAN   0x037Fu /* all exceptions masked, as after FNINIT */
#define FPU_MXCSR_CLEAN 0x1F80u

struct arch_fpu {
    _Alignas(16) uint8_t image[512];
};

static inline void arch_fpu_clean(struct arch_fpu *fpu)
{
    const uint16_t fcw = FPU_FCW_CLEAN;
    const uint32_t mxcsr = FPU_MXCSR_CLEAN;
    memset(fpu, 0, sizeof *fpu);
    memcpy(fpu->image + FPU_FCW, &fcw, sizeof fcw);
    memcpy(fpu->image + FPU_MXCSR, &mxcsr, sizeof mxcsr);
}

static inline void arch_fpu_save(struct arch_fpu *fpu)
{
    __asm__ volatile("fxsave64 %0" : "=m"(*fpu));
}

static inline void arch_fpu_load(const struct arch_fpu *fpu)
{
    __asm__ volatile("fxrstor64 %0" ::"m"(*fpu));
}
