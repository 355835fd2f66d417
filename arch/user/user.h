/* SPDX-License-Identifier: MIT */
/* Ring 3. The kernel is linked with or without it. */
#pragma once

#include "arch/arch.h"
#include "arch/memory_layout.h"

/* An address space is the physical address of its top table. Its upper half is the kernel's, the same in all, for
 * supervisors only; its lower half holds what arch_space_map has put there. */

/* 0, or -ENOMEM. After the first space, arch_map_page returns -EBUSY if the kernel's top table needs a new entry. */
int arch_space_create(uint64_t *space);
/* Maps one page for ring 3, read-only without flags. 0, -EINVAL (not below ARCH_USER_END, not page-aligned, writable
 * and executable), -EEXIST, -ENOMEM. One caller at a time, and no CPU uses the space. */
int arch_space_map(uint64_t space, uint64_t virt, uint64_t phys, unsigned flags);
/* Frees its tables, not the pages they map. No CPU uses it. */
void arch_space_free(uint64_t space);
/* Puts it in force on this CPU; 0: the kernel's own tables. */
void arch_space_use(uint64_t space);

/* Before this CPU runs a thread: its address space (0: the kernel's own tables), and the top of the kernel stack its
 * interrupts and system calls use. Interrupts off. */
void arch_thread_in(void *stack_top, uint64_t space);

/* Goes on in ring 3 as the frame says. Interrupts off. */
_Noreturn void arch_user_enter(struct arch_trap_frame *frame);

/* True where there is SMAP, but RFLAGS.AC opens user pages to the kernel: inside arch_copy_from_user and
 * arch_copy_to_user only. */
bool arch_user_pages_open(void);
extern uint8_t arch_smap; /* 1: CR4.SMAP is on, STAC and CLAC exist */

/* ---- what arch/user calls of the kernel, as arch/upcalls.h */

/* An exception in ring 3, on the thread's kernel stack. */
_Noreturn void kernel_user_fault(struct arch_trap_frame *frame);
/* SYSCALL: RAX holds the number of the call, then its result. Interrupts off, before and after. */
void kernel_system_call(struct arch_trap_frame *frame);
/* After each interrupt that came from ring 3. */
void kernel_user_return(struct arch_trap_frame *frame);
/* As kernel_page_permanent, for page tables of address spaces. */
uint64_t kernel_page(void);
void kernel_page_free(uint64_t phys);
