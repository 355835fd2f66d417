/* SPDX-License-Identifier: MIT */
/* Single instructions of x86-64, in C, and where its memory is. Unit tests have their own (tests/unit/fake). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/trapframe.h"
#include "boot/info.h"

struct arch_cpu; /* arch/arch.h */

static inline uint64_t arch_rdtsc(void)
{
    uint32_t lo, hi;
    __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
    return (uint64_t)hi << 32 | lo;
}

/* RDTSC in program order: on its own it may run before what was asked for earlier has come. */
static inline uint64_t arch_ordered_tsc(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

static inline void arch_pause(void)
{
    __asm__ volatile("pause" ::: "memory");
}

static inline uint64_t arch_read_rflags(void)
{
    uint64_t f;
    __asm__ volatile("pushfq\n\tpopq %0" : "=r"(f)::"memory");
    return f;
}

static inline void arch_cli(void)
{
    __asm__ volatile("cli" ::: "memory");
}

/* An exception with an IDT of no entry, whose operand of LIDT is at `empty`. */
static inline void arch_triple_fault(const void *empty)
{
    __asm__ volatile("lidt %0; int3" ::"m"(*(const uint8_t(*)[10])empty));
}

/* Interrupts off; returns whether they were on. Balanced by arch_irq_restore. Never uses POPF: an old image must not
 * change RFLAGS.TF (single-stepping, ds/soft/soft.c). */
static inline bool arch_irq_save(void)
{
    bool on = (arch_read_rflags() & ARCH_RFLAGS_IF) != 0;
    __asm__ volatile("cli" ::: "memory");
    return on;
}

static inline void arch_irq_restore(bool on)
{
    if (on)
        __asm__ volatile("sti" ::: "memory");
}

static inline void arch_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    __asm__ volatile("cpuid" : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3]) : "a"(leaf), "c"(subleaf));
}

static inline uint8_t arch_in8(uint16_t port)
{
    uint8_t v;
    __asm__ volatile("inb %1, %0" : "=a"(v) : "Nd"(port));
    return v;
}

static inline void arch_out8(uint16_t port, uint8_t v)
{
    __asm__ volatile("outb %0, %1" ::"a"(v), "Nd"(port));
}

/* Each byte to the same port. */
static inline void arch_outs8(uint16_t port, const char *data, size_t count)
{
    __asm__ volatile("rep outsb" : "+S"(data), "+c"(count) : "d"(port) : "memory");
}

/* This CPU's block, by GS base. The compiler may keep the answer. */
static inline struct arch_cpu *arch_this_cpu(void)
{
    struct arch_cpu *c;
    __asm__("movq %%gs:0, %0" : "=r"(c));
    return c;
}

static inline uint32_t arch_cpu_index(void)
{
    uint32_t i;
    __asm__ volatile("movl %%gs:8, %0" : "=r"(i));
    return i;
}

static inline void *arch_phys_to_virt(uint64_t phys)
{
    return (void *)(BOOT_DIRECT_MAP + phys);
}
