/* SPDX-License-Identifier: MIT */
/* Asserts that the offsets of struct arch_cpu that nasm uses are those of the compiler. */
#include "arch/arch.h"
#include "arch/asm_numbers.h"
#include "arch/page_tables.h"

_Static_assert(offsetof(struct arch_cpu, self) == ARCH_CPU_SELF, "arch_cpu.self");
_Static_assert(offsetof(struct arch_cpu, index) == ARCH_CPU_INDEX, "arch_cpu.index");
_Static_assert(offsetof(struct arch_cpu, apic_id) == ARCH_CPU_APIC_ID, "arch_cpu.apic_id");
_Static_assert(offsetof(struct arch_cpu, step_ip) == ARCH_CPU_STEP_IP, "arch_cpu.step_ip");
_Static_assert(offsetof(struct arch_cpu, step_on) == ARCH_CPU_STEP_ON, "arch_cpu.step_on");
_Static_assert(offsetof(struct arch_cpu, kernel_stack) == ARCH_CPU_KERNEL_STACK, "arch_cpu.kernel_stack");
_Static_assert(offsetof(struct arch_cpu, user_rsp) == ARCH_CPU_USER_RSP, "arch_cpu.user_rsp");
_Static_assert(offsetof(struct arch_page_tables, root) == 0, "arch_page_tables.root: arch/ap.asm");
_Static_assert(ARCH_USER_CODE == ARCH_USER_CODE_SELECTOR, "ARCH_USER_CODE");
_Static_assert(ARCH_USER_DATA == ARCH_USER_DATA_SELECTOR, "ARCH_USER_DATA");
