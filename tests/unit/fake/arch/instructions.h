/* SPDX-License-Identifier: MIT */
/* arch/instructions.h in unit tests: functions of the fake processor (tests/unit/fake/processor.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/trapframe.h"
#include "boot/info.h"

struct arch_cpu;

uint64_t arch_rdtsc(void);
uint64_t arch_ordered_tsc(void);
void arch_pause(void);
uint64_t arch_read_rflags(void);
void arch_cli(void);
void arch_triple_fault(const void *empty);
bool arch_irq_save(void);
void arch_irq_restore(bool on);
void arch_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4]);
uint8_t arch_in8(uint16_t port);
void arch_out8(uint16_t port, uint8_t v);
void arch_outs8(uint16_t port, const char *data, size_t count);
struct arch_cpu *arch_this_cpu(void);
uint32_t arch_cpu_index(void);
void *arch_phys_to_virt(uint64_t phys);
