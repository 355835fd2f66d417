/* SPDX-License-Identifier: MIT */
/* arch/register_access.h in unit tests: functions of the fake processor (tests/unit/fake/processor.c). */
#pragma once

#include <stdint.h>

uint64_t read_cr0(void);
void write_cr0(uint64_t v);
uint64_t read_cr2(void);
uint64_t read_cr3(void);
void write_cr3(uint64_t v);
uint64_t read_cr4(void);
void write_cr4(uint64_t v);
#define DR7_NONE UINT64_C(0x400)
void write_dr7(uint64_t v);
uint64_t rdmsr(uint32_t msr);
void wrmsr(uint32_t msr, uint64_t v);
