/* SPDX-License-Identifier: MIT */
/*
 * What arch/ offers to the rest of the kernel; arch/upcalls.h lists what it needs from the kernel. x86-64 long mode
 * only. Unless its comment says otherwise, a function may be called on any CPU, in any interrupt state, without a lock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/instructions.h"
#include "arch/trapframe.h"
#include "boot/info.h"
#include "kernel/lib/limits.h"

#define ARCH_PAGE_SIZE 4096u

/* ---- assembler pieces ----------------------------------------------------------------------------------------- */

/* Enables interrupts and waits for one: STI;HLT, so that no wake-up is lost. Returns with interrupts off. */
void arch_wait_for_interrupt(void);
/* Stops this CPU for good, interrupts off. */
_Noreturn void arch_halt(void);

/* RDMSR/WRMSR that survive #GP: 0, or -EFAULT where the MSR faulted (value untouched). Any context, NMI included. */
int arch_rdmsr_safe(uint32_t msr, uint64_t *value);
int arch_wrmsr_safe(uint32_t msr, uint64_t value);

/* ---- per-CPU area -------------------------------------------------------------------------------------------- */

/* First member of the kernel's per-CPU block; GS base points at it in the kernel. Offsets used by nasm are asserted in
 * arch/asm_offsets.c against arch/asm_offsets.inc. */
struct arch_cpu {
    struct arch_cpu *self; /* gs:0 */
    uint32_t index;        /* gs:8, dense, 0 is the boot processor */
    uint32_t apic_id;      /* gs:12 */
    /* Single-stepping state of ds/soft/soft.c: the address of the next instruction to be stepped, and whether steps
     * count now. Written with interrupts off, or by one gs-relative instruction. */
    uint64_t step_ip; /* gs:16 */
    uint8_t step_on;  /* gs:24 */
    uint8_t started;  /* arch/smp.c's own: how far the CPU has got */
    uint8_t reserved[6];
    void *tables;          /* GDT, TSS, IST stacks: arch/gdt.c's own */
    uint64_t kernel_stack; /* gs:40, of the current thread, as in TSS.RSP0: SYSCALL begins there */
    uint64_t user_rsp;     /* gs:48, for a few instructions at SYSCALL's entry */
};

/* ---- start, in the order kernel_main calls it ---------------------------------------------------------------- */

/* Boot processor: control registers (NX, WP, those of ring 3), GDT, TSS, IDT, GS base. From here on
 * faults reach kernel_fault. `cpu` stays in use for ever. */
void arch_early_init(struct arch_cpu *cpu);

/* Final page tables: kernel segments W^X, direct map NX, devices uncached, no identity map. Takes pages with
 * kernel_page_permanent (never freed). 0, or -ENOMEM. */
int arch_paging_init(const struct boot_info *info);

/* ACPI: RSDP -> XSDT/RSDT -> MADT. 0, or a negative error with one line printed: -ENOENT (no tables), -EINVAL (one is
 * malformed: which, and why). */
int arch_acpi_init(const struct boot_info *info);

/* Starts the local APIC in the firmware's mode (arch/x2apic may choose another), and masks what the firmware left on.
 * Some interrupts still come, and stray() (arch/idt.c) ignores them: those already requested, PCI devices' MSIs, and
 * without arch/timers those of HPET timers that bypass the I/O APICs. CPUs whose APIC IDs the mode cannot address are
 * left out from here on. Boot processor; arch_smp_start does it for the others. 0, or negative: one line is printed. */
int arch_apic_init(void);

/* TSC and APIC timer frequency: CPUID 15H, else measured by the PIT (before it arch/timers: PM timer, HPET), else CPUID
 * 16H. 0, or -ENODEV. Says in words which was used (arch_time_source). */
int arch_time_init(void);
uint64_t arch_tsc_hz(void);
const char *arch_time_source(void);
/* For times that are compared by whoever may have changed CPUs meanwhile: this CPU's TSC, or with arch/tscsync what the
 * boot processor's is now, as far as its offset is known. */
uint64_t arch_tsc_common(void);
/* Busy waits. The first needs arch_time_init; without it the second lasts only about as long. */
void arch_delay_us(uint64_t us);
void arch_wait_for_effect(uint64_t us);

/* CPUs the MADT names as enabled (x2APIC entries included); how many of them are beyond MAX_CPUS or, after
 * arch_apic_init, have APIC IDs that cannot be addressed. */
uint32_t arch_cpus_found(void);
uint32_t arch_cpus_left_out(void);
/* Places of the MADT without a CPU that is enabled: empty sockets, CPUs switched off, those that could be added. */
uint32_t arch_cpus_disabled(void);

/* Starts CPU `index`, in the MADT's order, of those that can be used: 1 (0 is the boot processor) ..
 * arch_cpus_found() - arch_cpus_left_out() - 1, by INIT-SIPI-SIPI: the CPU loads its own tables from `cpu`, uses
 * `stack_top`, and calls kernel_ap_main(cpu) with interrupts off. The caller has set cpu->index, the dense number it
 * shall have; arch/ sets the rest of struct arch_cpu. Returns 0 when it has got there, -ETIMEDOUT after 10 s of TSC
 * time (the CPU is then left out, waiting for a STARTUP, and `cpu` is free again), -ENOMEM, or -EIO where the local
 * APIC does not send. Boot processor only, interrupts off or on, once for each `index`; takes pages with
 * kernel_page_permanent. Memory below 1 MiB belongs to arch/ for this: kernel/memory/mem.c never hands it out. */
int arch_smp_start(uint32_t index, struct arch_cpu *cpu, void *stack_top);

/* ---- memory -------------------------------------------------------------------------------------------------- */

/* Any mapped kernel address: direct map, kernel image or a page mapped with arch_map_page. ~0 where not mapped. */
uint64_t arch_virt_to_phys(const void *virt);

#define ARCH_MAP_WRITE     1u /* else read-only */
#define ARCH_MAP_EXECUTE   2u /* never with WRITE: refused */
#define ARCH_MAP_UNCACHED  4u
#define ARCH_MAP_COMBINING 8u /* write-combining, where the processor has a PAT; else uncached */

/* Maps one 4 KiB page that was not mapped before (so no CPU has it in its TLB). After arch_paging_init. 0, -ENOMEM,
 * -EEXIST, -EINVAL. The caller serialises (kernel/memory/mem.c holds its lock). */
int arch_map_page(void *virt, uint64_t phys, unsigned flags);
/* True where any of [phys, phys + size) is memory by the firmware's map (boot_memory_is_ram): no device is there. */
bool arch_is_memory(const struct boot_info *info, uint64_t phys, uint64_t size);
/* Device registers: maps [phys, phys + size) uncached, returns the virtual address; NULL where arch_is_memory, without
 * memory for the tables, or where the processor has no such address. After arch_paging_init, boot only. */
void *arch_map_device(uint64_t phys, size_t size);

/* True where the kernel can read `size` bytes at `virt` without a fault: for backtraces and panic dumps. Walks the
 * tables; false for a program's pages (SMAP). */
bool arch_readable(const void *virt, size_t size);

/* The same, and it may write there. */
bool arch_writable(const void *virt, size_t size);

/* True where `virt` is in the guard page of a stack that no thread owns (boot stack, interrupt stacks): a fault there
 * is a stack overflow. */
bool arch_stack_is_guard(const void *virt);

/* ---- ring 3: not linked without arch/user; arch/user/user.h has the rest ----------------------------------------- */

#define ARCH_USER_CODE 35u /* selectors with RPL 3 (arch/asm_offsets.inc) */
#define ARCH_USER_DATA 27u

/* Where SYSCALL enters the kernel. */
void arch_syscall_entry(void) __attribute__((weak));
/* Copies that survive a bad user address (which may be any number): 0, or -EFAULT (a part may have been copied).
 * Interrupts off, for user pages are open to the kernel meanwhile. Only for addresses that a program has given. */
int arch_copy_from_user(void *to, uint64_t from, size_t size) __attribute__((weak));
int arch_copy_to_user(uint64_t to, const void *from, size_t size) __attribute__((weak));

/* ---- interrupts ---------------------------------------------------------------------------------------------- */

enum arch_vector {
    ARCH_VECTOR_DB = 1,
    ARCH_VECTOR_NMI = 2,
    ARCH_VECTOR_DF = 8,
    ARCH_VECTOR_GP = 13,
    ARCH_VECTOR_PF = 14,
    ARCH_VECTOR_MC = 18,
    ARCH_VECTOR_TIMER = 0xE0,
    ARCH_VECTOR_RESCHEDULE = 0xE1, /* does nothing but return through kernel_irq_exit */
    ARCH_VECTOR_CALL = 0xE2,       /* kernel's cross-CPU call */
    ARCH_VECTOR_WAKE = 0xE3,       /* arch_tsc_align's own; the kernel never sees it */
    ARCH_VECTOR_PROBE = 0xED,      /* LVTPC while workload probe has it */
    ARCH_VECTOR_PMI = 0xEE,        /* LVTPC, or the soft backend's self-IPI */
    ARCH_VECTOR_SPURIOUS = 0xFF,
};

/* Handler of an interrupt vector (0x20..0xFE). Runs with interrupts off on the interrupted thread's stack; the
 * dispatcher has called kernel_irq_enter before it and sends the EOI and calls kernel_irq_exit after it. */
typedef void (*arch_irq_handler)(struct arch_trap_frame *frame);
void arch_irq_set(uint8_t vector, arch_irq_handler handler);

/* Handler of #DB (IST 4). Returns false where the #DB was not its own: then it is a fault like any other. */
typedef bool (*arch_debug_handler)(struct arch_trap_frame *frame);
void arch_debug_set(arch_debug_handler handler);

/* Fixed interrupt `vector` to one CPU (by dense index), to this one. */
void arch_ipi(uint32_t cpu_index, uint8_t vector);
void arch_ipi_self(uint8_t vector);
/* NMI to all others that run: panic stops them with it (kernel_nmi). Before arch_apic_init there are none. */
void arch_nmi_others(void);

/* Periodic timer interrupt on this CPU every `period_us`. ARCH_VECTOR_TIMER's handler must be set. */
void arch_timer_start(uint32_t period_us);
void arch_timer_stop(void);

/* LVTPC of this CPU's local APIC, raw (SDM vol. 3, "Local Vector Table"). */
uint32_t arch_lvtpc_read(void);
void arch_lvtpc_write(uint32_t value);

/* ---- context switch ------------------------------------------------------------------------------------------ */

/* Saves the callee-saved registers on this stack, stores the stack pointer in *save, loads `load` and returns on the
 * other stack. Interrupts off. The picture of the saved frame is in arch/switch.asm. */
void arch_context_switch(void **save, void *load);
/* Prepares a new stack so that the first switch to it calls entry(arg) with interrupts off. `entry` never returns.
 * Returns the value for arch_context_switch's `load`. */
void *arch_context_new(void *stack_top, void (*entry)(void *), void *arg);

/* ---- machine checks ------------------------------------------------------------------------------------------ */

/* What this CPU's machine-check banks hold, a line each: for a panic. Nothing where there are none, or no arch/mce. */
void arch_machine_check_print(void);

/* ---- the end ------------------------------------------------------------------------------------------------- */

/* Writes `code` to QEMU's isa-debug-exit port (QEMU exits with 2*code+1). Returns where no such device listens. */
void arch_debug_exit(uint8_t code);
/* CPU features in use, one line of words ("nx smep smap umip x2apic"), for the machine stream. */
const char *arch_features(void);
