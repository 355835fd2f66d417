/* SPDX-License-Identifier: MIT */
/* What nasm believes about struct arch_cpu, held against what the compiler does. */
#include "arch/arch.h"
#include "arch/numbers.h"

_Static_assert(offsetof(struct arch_cpu, self) == ARCH_CPU_SELF, "arch_cpu.self");
_Static_assert(offsetof(struct arch_cpu, index) == ARCH_CPU_INDEX, "arch_cpu.index");
_Static_assert(offsetof(struct arch_cpu, apic_id) == ARCH_CPU_APIC_ID, "arch_cpu.apic_id");
_Static_assert(offsetof(struct arch_cpu, step_ip) == ARCH_CPU_STEP_IP, "arch_cpu.step_ip");
_Static_assert(offsetof(struct arch_cpu, step_on) == ARCH_CPU_STEP_ON, "arch_cpu.step_on");
