/* SPDX-License-Identifier: MIT */
/*
 * What the code of a lab may use in the kernel. Registers, bits and layouts are in ds/layout.h, with the names of
 * Intel's manual (SDM).
 *
 * The machine of a lab has one processor. That of lab 11 has two, and a function uses the registers of the one that it
 * runs on. The Debug Store is a model of it (`make lab N=1`), or with DS=hw the one that the processor has; in QEMU,
 * the plugin's. This interface is the same for both. Your functions run in a thread of the kernel in ring 0, with
 * interrupts on; they may not call anything else of Cairn's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/trapframe.h"
#include "ds/layout.h"

/* ---- the processor */

/* 0, or -EFAULT: the access raises #GP (no such register, or a reserved bit is set). */
int lab_rdmsr(uint32_t msr, uint64_t *value);
int lab_wrmsr(uint32_t msr, uint64_t value);
void lab_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4]); /* EAX, EBX, ECX, EDX */
uint64_t lab_rdtsc(void);

/* The APIC's register for the interrupt of performance counters (PMI): LVTPC_... of ds/layout.h. */
uint32_t lab_lvtpc_read(void);
void lab_lvtpc_write(uint32_t value);

/* ---- memory */

/* Zeroed memory of the kernel that stays mapped: its address is what the DS area needs. Begins at a page of 4 KiB; the
 * page before it and the one after it belong to nobody. NULL: there is none left. */
void *lab_memory(size_t bytes);

/* Page tables: the kernel's own, and those of the programs that lab_run_user runs. */
enum lab_space { LAB_SPACE_KERNEL, LAB_SPACE_PROGRAM };
#define LAB_PAGE_BYTES 4096u

/* Bits of page-table entries, as the processor has them. */
#define LAB_PAGE_PRESENT  (UINT64_C(1) << 0)
#define LAB_PAGE_WRITABLE (UINT64_C(1) << 1)
#define LAB_PAGE_USER     (UINT64_C(1) << 2) /* ring 3 can access it, too */
#define LAB_PAGE_ACCESSED (UINT64_C(1) << 5)
#define LAB_PAGE_DIRTY    (UINT64_C(1) << 6)

/* The bits above of the page of 4 KiB in which `address` lies: DIRTY of the entry that maps it, each other one if the
 * entries of all levels have it. 0: these tables map nothing there. */
uint64_t lab_page(enum lab_space space, uint64_t address);

/* ---- interrupts */

#define LAB_PMI_VECTOR 0xEEu /* for LVTPC */

/* Sets who handles the interrupt LAB_PMI_VECTOR; NULL: nobody. The handler runs with interrupts off on a stack of its
 * own; `frame->rip` is the instruction that the program would have executed next. What the handler is to tell your
 * other functions goes through a static variable, which is volatile. The end of the interrupt (EOI) is sent for you.
 * The processor has set LVTPC_MASKED. Counters run on in the handler, unless you stop them. */
void lab_on_pmi(void (*handler)(const struct arch_trap_frame *frame));

/* ---- a program to sample */

typedef void lab_program(uint64_t argument);

/* Every counter is off in IA32_PERF_GLOBAL_CTRL until this call, and again after it: it writes `counters` to
 * IA32_PERF_GLOBAL_CTRL, runs the program in this thread, and writes 0. So the program is counted and your own code is
 * not. There is no timer interrupt meanwhile. One RET before the program and three other instructions after it are
 * counted, too, on hw perhaps a fourth. 0, or -EFAULT: the write raises #GP, and the program has not run. */
int lab_run(lab_program *program, uint64_t argument, uint64_t counters);

/* The same for branch tracing: writes `debugctl` to IA32_DEBUGCTL, runs the program, and writes 0. The first branch is
 * the RET that leads to the program, the last one the program's own last RET. Returns as above. */
int lab_run_traced(lab_program *program, uint64_t argument, uint64_t debugctl);

/* lab_run for a program in ring 3. It has an address space and a stack of its own, runs in a thread of its own, and
 * lies at another address there: lab_user_address. After its last RET three more instructions of ring 3 are counted.
 * Counters that count in ring 0 also count the kernel's way there and back; the model's do not, as it sees the program
 * alone. 0, -EFAULT as above, or -ENOMEM. */
int lab_run_user(lab_program *program, uint64_t argument, uint64_t counters);
uint64_t lab_user_address(const void *in_program);

/* ---- a log */

/* Prints a line, after "| ". */
void lab_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
