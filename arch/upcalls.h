/* SPDX-License-Identifier: MIT */
/* The functions that arch/ calls and kernel/ defines. Besides the functions of kernel/lib, they are the only
 * calls from arch/ up into kernel/. They come
 * from assembler, from traps and at start, where a registered pointer would have to exist before everything else. */
#pragma once

#include "arch/arch.h"

_Noreturn void kernel_main(struct boot_info *info);
_Noreturn void kernel_ap_main(struct arch_cpu *cpu);
/* An exception that nothing handles. On an IST stack if the vector has one. */
_Noreturn void kernel_fault(struct arch_trap_frame *frame);
/* Any NMI that is not a PMI. */
void kernel_nmi(struct arch_trap_frame *frame);
/* The first and the last call in every interrupt (not exception, not NMI); `handler` was called in between.
 * kernel_irq_exit may switch threads. */
void kernel_irq_enter(struct arch_trap_frame *frame);
void kernel_irq_exit(struct arch_trap_frame *frame, arch_irq_handler handler);
/* Allocates one zeroed physical page and returns its address; 0: none is left. For page tables and stacks that are
 * never freed. After kmem_init. */
uint64_t kernel_page_permanent(void);
