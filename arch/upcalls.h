/* SPDX-License-Identifier: MIT */
/*
 * What arch/ calls by name and kernel/ defines: the one way from this room up. They are called from assembler, from
 * traps and at start, where a registered pointer would have to be there before anything else.
 */
#pragma once

#include "arch/arch.h"

_Noreturn void kernel_main(struct boot_info *info);
_Noreturn void kernel_ap_main(struct arch_cpu *cpu);
/* An exception nobody handles. On its own IST stack where the vector has one. */
_Noreturn void kernel_fault(struct arch_trap_frame *frame);
/* An exception in ring 3, on the thread's kernel stack. */
_Noreturn void kernel_user_fault(struct arch_trap_frame *frame);
/* SYSCALL: RAX holds the number of the call, then its result. Interrupts off, before and after. */
void kernel_system_call(struct arch_trap_frame *frame);
/* After kernel_irq_exit, where the interrupt has hit ring 3. */
void kernel_user_return(struct arch_trap_frame *frame);
/* Any NMI that is not a PMI. */
void kernel_nmi(struct arch_trap_frame *frame);
/* First and last act of every interrupt (not exception, not NMI); `handler` has been called in between.
 * kernel_irq_exit may switch threads. */
void kernel_irq_enter(struct arch_trap_frame *frame);
void kernel_irq_exit(struct arch_trap_frame *frame, arch_irq_handler handler);
/* One zeroed physical page, its address; 0: there is none. The permanent ones, for page tables and stacks, are never
 * freed. After kmem_init. */
uint64_t kernel_page_permanent(void);
uint64_t kernel_page(void);
void kernel_page_free(uint64_t phys);
