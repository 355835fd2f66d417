/* SPDX-License-Identifier: MIT */
/* Which CPU runs this, by GS base. Unit tests have their own (tests/unit/fake). */
#pragma once

struct kcpu; /* kernel/cpu.h */

/* Volatile, unlike arch_this_cpu: a thread that was switched away may come back on another CPU in the middle of a
 * function, so the compiler must not keep the answer. Stable only while interrupts are off. */
static inline struct kcpu *kcpu_this(void)
{
    struct kcpu *cpu;
    __asm__ volatile("movq %%gs:0, %0" : "=r"(cpu)::"memory"); /* arch.self; arch is the first member */
    return cpu;
}
