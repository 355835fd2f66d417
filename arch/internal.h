/* SPDX-License-Identifier: MIT */
/* What the files of arch/ share; private to arch/. */
#pragma once

#include "arch/arch.h"
#include "arch/asm_numbers.h"
#include "arch/clock/frequency.h"
#include "arch/firmware/acpi_tables.h"

/* Operand of LGDT and LIDT. */
struct arch_table_pointer {
    uint16_t limit;
    uint64_t base;
} __attribute__((packed));
_Static_assert(sizeof(struct arch_table_pointer) == 10, "arch_table_pointer");

/* ---- arch/boot_stacks.c: stacks that no thread owns ---- */

/* Interrupt stacks, by IST number (SDM vol. 3, "Interrupt Stack Table"). */
enum arch_ist {
    IST_DF = 1,
    IST_NMI = 2,
    IST_MC = 3,
    IST_DB = 4,
    IST_COUNT = 4,
};

struct arch_stack {
    uint8_t guard[ARCH_STACK_GUARD]; /* not mapped once arch_paging_init has run */
    uint8_t bytes[ARCH_STACK_SIZE];
};

extern struct arch_stack arch_boot_stack;          /* kernel_main's */
extern struct arch_stack arch_boot_ist[IST_COUNT]; /* the boot processor's */
/* Maps the interrupt stacks of the MADT's CPU `index` (1..), once; tops[i] is the top of IST i + 1. 0 or -ENOMEM. */
int arch_stack_make_ist(uint32_t index, void *tops[IST_COUNT]);

/* ---- arch/cpu.c: control registers ---- */

/* Sets the feature bits of CR0, CR4, EFER and the PAT on this CPU; notes the words of arch_features on the first. */
void arch_cpu_init(void);
void arch_features_add(const char *word);
/* Opens this CPU for ring 3; notes words on the first. Does nothing where there is none (arch/user). */
void arch_cpu_open(bool first) __attribute__((weak));

/* ---- arch/gdt.c ---- */

struct task_state {
    uint32_t reserved0;
    uint64_t rsp[3];
    uint64_t reserved1;
    uint64_t ist[7];
    uint64_t reserved2;
    uint16_t reserved3;
    uint16_t io_map_base;
} __attribute__((packed));
_Static_assert(sizeof(struct task_state) == 104, "task_state");
_Static_assert(offsetof(struct task_state, ist) == 0x24, "task_state.ist");

enum { GDT_ENTRIES = ARCH_TSS_SELECTOR / 8 + 2 }; /* the TSS descriptor takes two */

struct arch_tables {
    uint64_t gdt[GDT_ENTRIES];
    struct task_state tss;
};
_Static_assert(sizeof(struct arch_tables) <= ARCH_PAGE_SIZE, "arch_smp_start gives it one page");

/* Fills the tables of one CPU (at most a page). `ist_tops` as from arch_stack_make_ist. */
void arch_tables_fill(void *tables, void *const ist_tops[IST_COUNT]);
/* Loads GDT, TSS, IDT and GS base of this CPU. */
void arch_tables_load(struct arch_cpu *cpu);

/* ---- arch/idt.c ---- */

void arch_idt_init(void);
void arch_idt_load(void);

/* ---- arch/paging.c ---- */

extern const struct boot_info *arch_boot_info; /* since arch_paging_init */

/* arch_is_memory, in this machine's map. */
static inline bool arch_memory_at(uint64_t phys, uint64_t size)
{
    return arch_is_memory(arch_boot_info, phys, size);
}

/* As arch_map_device, with these ARCH_MAP_ flags. */
void *arch_map_device_as(uint64_t phys, size_t size, unsigned flags);
/* Makes [phys, phys + size) readable through the direct map, mapping read-only what the memory map left out (firmware
 * that keeps ACPI tables in reserved memory). NULL where that is impossible. Boot only. */
const void *arch_paging_reach(uint64_t phys, size_t size);
/* Makes the page at `copy` a top table like the kernel's that also maps the page `phys` at its own address, read-only
 * and executable. The kernel's own tables never have an identity map. 0 or -ENOMEM. For arch/smp.c. */
int arch_paging_identity(uint64_t copy, uint64_t phys);

/* ---- arch/acpi.c ---- */

extern struct acpi_info arch_acpi;
extern const struct acpi_memory arch_acpi_memory; /* this machine's; after arch_paging_init, boot only */

/* ---- arch/smp.c, for arch/tscsync: when a CPU has started ---- */

/* The boot processor calls this: it measures how far the TSC of `cpu` is from its own. */
void arch_tsc_meet(struct arch_cpu *cpu) __attribute__((weak));
/* `cpu` itself calls this again and again until it is let go: each call answers at most one question. */
void arch_tsc_wait(struct arch_cpu *cpu) __attribute__((weak));

/* ---- arch/apic.c ---- */

uint32_t arch_apic_id(void);           /* of this CPU, from CPUID */
uint32_t arch_apic_read(uint32_t reg); /* arch/apic_registers.h */
void arch_apic_write(uint32_t reg, uint32_t value);
/* For arch/x2apic. Whether the APICs are to be in x2APIC mode: 0, or -ENODEV with one line printed. */
int arch_apic_choose(bool *x2);
/* Out of x2APIC mode, where this CPU is in it and shall not be; a CPU that cannot leave it does not return. */
void arch_apic_leave_x2apic(void);
/* Sets this CPU's local APIC up and makes it known to arch_ipi. */
void arch_apic_cpu_init(const struct arch_cpu *cpu);
void arch_apic_eoi(void);
/* True where this CPU's local APIC has delivered `vector` and waits for its EOI; false before it is set up. */
bool arch_apic_in_service(unsigned vector);
/* INIT or STARTUP to one CPU: `command` is the low half of the ICR. 0, or -EIO where it stays pending. */
int arch_apic_send(uint32_t apic_id, uint32_t command);
/* The timer, undivided: one-shot with `vector` or masked (vector 0), and its current count. */
void arch_apic_timer_oneshot(uint8_t vector, uint32_t count);
void arch_apic_timer_periodic(uint8_t vector, uint32_t count);
uint32_t arch_apic_timer_count(void);

/* ---- arch/clock/time.c ---- */

extern uint64_t arch_apic_timer_hz; /* since arch_time_init */
/* For arch/timers. Finds timers beside the PIT; none of them interrupts any more. */
void arch_timers_init(void) __attribute__((weak));
extern const char arch_timers_names[] __attribute__((weak)); /* for messages: ", NAME, NAME" */
/* The TSC's frequency by the first of them that counts, and in words which; false: none. */
bool arch_timers_measure(struct arch_interval *tsc, const char **source) __attribute__((weak));

/* ---- nasm ---- */

extern const uint8_t arch_stubs[256][16]; /* trap.asm */
extern const uint64_t arch_fixups[][2];   /* fixup.asm, kernel.ld */
extern const uint64_t arch_fixups_end[][2];
extern arch_debug_handler arch_debug_function; /* read by trap.asm's #DB stub; never NULL */
_Noreturn void arch_fixup_resume(const struct arch_trap_frame *frame, uint64_t resume);
void arch_load_segments(void);

/* Called by nasm. */
void arch_trap(struct arch_trap_frame *frame);
_Noreturn void arch_ap_main(struct arch_cpu *cpu);
_Noreturn void __stack_chk_fail(void);
