/* SPDX-License-Identifier: MIT */
/* Devices' registers in memory (arch_map_device), and wide ports. Unit tests have their own (tests/unit/fake). */
#pragma once

#include <stdint.h>

/* Of 1, 2 or 4 bytes: one access of that width. */
static inline uint32_t arch_mmio_read(const volatile uint8_t *at, unsigned width)
{
    return width == 4   ? *(const volatile uint32_t *)(const volatile void *)at
           : width == 2 ? *(const volatile uint16_t *)(const volatile void *)at
                        : *at;
}

static inline void arch_mmio_write(volatile uint8_t *at, unsigned width, uint32_t value)
{
    if (width == 4)
        *(volatile uint32_t *)(volatile void *)at = value;
    else if (width == 2)
        *(volatile uint16_t *)(volatile void *)at = (uint16_t)value;
    else
        *at = (uint8_t)value;
}

static inline uint32_t arch_in32(uint16_t port)
{
    uint32_t v;
    __asm__ volatile("inl %1, %0" : "=a"(v) : "Nd"(port));
    return v;
}

static inline void arch_out32(uint16_t port, uint32_t v)
{
    __asm__ volatile("outl %0, %1" ::"a"(v), "Nd"(port));
}
