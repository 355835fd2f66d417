/* SPDX-License-Identifier: MIT */
/* Single instructions of take.c alone. Unit tests have their own (tests/unit/fake). */
#pragma once

#include <stdint.h>

struct report_table { /* operand of SIDT and LIDT */
    uint16_t limit;
    uint64_t base;
} __attribute__((packed));

static inline void report_sidt(struct report_table *to)
{
    __asm__ volatile("sidt %0" : "=m"(*to));
}

static inline void report_lidt(const struct report_table *from)
{
    __asm__ volatile("lidt %0" ::"m"(*from) : "memory");
}

static inline uint64_t report_read_cr8(void)
{
    uint64_t v;
    __asm__ volatile("mov %%cr8, %0" : "=r"(v));
    return v;
}

static inline void report_write_cr8(uint64_t v)
{
    __asm__ volatile("mov %0, %%cr8" ::"r"(v) : "memory");
}

static inline uint16_t report_read_cs(void)
{
    uint16_t v;
    __asm__ volatile("mov %%cs, %0" : "=r"(v));
    return v;
}
