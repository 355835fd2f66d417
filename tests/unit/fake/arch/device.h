/* SPDX-License-Identifier: MIT */
/* arch/device.h in unit tests: functions of the fake processor (tests/unit/fake/processor.c). */
#pragma once

#include <stdint.h>

uint32_t arch_mmio_read(const volatile uint8_t *at, unsigned width);
void arch_mmio_write(volatile uint8_t *at, unsigned width, uint32_t value);
uint32_t arch_in32(uint16_t port);
void arch_out32(uint16_t port, uint32_t v);
