/* SPDX-License-Identifier: MIT */
/* The one-instruction accessors of arch/registers.h. Unit tests have their own (tests/unit/fake). */
#pragma once

#include <stdint.h>

static inline uint64_t read_cr0(void)
{
    uint64_t v;
    __asm__ volatile("movq %%cr0, %0" : "=r"(v));
    return v;
}

static inline void write_cr0(uint64_t v)
{
    __asm__ volatile("movq %0, %%cr0" ::"r"(v) : "memory");
}

/* The address of the last page fault. */
static inline uint64_t read_cr2(void)
{
    uint64_t v;
    __asm__ volatile("movq %%cr2, %0" : "=r"(v));
    return v;
}

static inline uint64_t read_cr3(void)
{
    uint64_t v;
    __asm__ volatile("movq %%cr3, %0" : "=r"(v)::"memory");
    return v;
}

static inline void write_cr3(uint64_t v)
{
    __asm__ volatile("movq %0, %%cr3" ::"r"(v) : "memory");
}

static inline uint64_t read_cr4(void)
{
    uint64_t v;
    __asm__ volatile("movq %%cr4, %0" : "=r"(v));
    return v;
}

static inline void write_cr4(uint64_t v)
{
    __asm__ volatile("movq %0, %%cr4" ::"r"(v) : "memory");
}

#define DR7_NONE UINT64_C(0x400) /* no breakpoint; bit 10 is fixed */

static inline void write_dr7(uint64_t v)
{
    __asm__ volatile("movq %0, %%dr7" ::"r"(v));
}

static inline uint64_t rdmsr(uint32_t msr)
{
    uint32_t lo, hi;
    __asm__ volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr));
    return (uint64_t)hi << 32 | lo;
}

static inline void wrmsr(uint32_t msr, uint64_t v)
{
    __asm__ volatile("wrmsr" ::"c"(msr), "a"((uint32_t)v), "d"((uint32_t)(v >> 32)) : "memory");
}
