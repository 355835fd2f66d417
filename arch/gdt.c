/* SPDX-License-Identifier: MIT */
/* The GDT and the TSS of each CPU. SDM vol. 3, "Segment Descriptors" and "TSS Descriptor in 64-bit Mode". */
#include "arch/internal.h"
#include "arch/registers.h"

/* Flat segments with the accessed bit already set: the processor never has to write to a descriptor. */
#define DESCRIPTOR_CODE64 UINT64_C(0x00209B0000000000) /* P, code, readable, L */
#define DESCRIPTOR_DATA   UINT64_C(0x0000930000000000) /* P, data, writable */
#define DESCRIPTOR_DPL3   (UINT64_C(3) << 45)

#define TSS_AVAILABLE UINT64_C(0x9)
#define TSS_PRESENT   UINT64_C(0x8)

void arch_tables_fill(void *where, void *const ist_tops[IST_COUNT])
{
    struct arch_tables *tables = where;
    uint64_t base = (uint64_t)&tables->tss;
    uint64_t limit = sizeof(tables->tss) - 1;

    tables->tss = (struct task_state){.io_map_base = sizeof(tables->tss)}; /* beyond the limit: no I/O bitmap */
    for (unsigned i = 0; i < IST_COUNT; i++)
        tables->tss.ist[i] = (uint64_t)ist_tops[i];

    tables->gdt[0] = 0;
    tables->gdt[ARCH_CODE_SELECTOR / 8] = DESCRIPTOR_CODE64;
    tables->gdt[ARCH_DATA_SELECTOR / 8] = DESCRIPTOR_DATA;
    tables->gdt[ARCH_USER_DATA_SELECTOR / 8] = DESCRIPTOR_DATA | DESCRIPTOR_DPL3;
    tables->gdt[ARCH_USER_CODE_SELECTOR / 8] = DESCRIPTOR_CODE64 | DESCRIPTOR_DPL3;
    tables->gdt[ARCH_TSS_SELECTOR / 8] =
        limit | (base & 0xFFFFFF) << 16 | TSS_AVAILABLE << 40 | TSS_PRESENT << 44 | (base >> 24 & 0xFF) << 56;
    tables->gdt[ARCH_TSS_SELECTOR / 8 + 1] = base >> 32;
}

void arch_tables_load(struct arch_cpu *cpu)
{
    struct arch_tables *tables = cpu->tables;
    struct arch_table_pointer gdt = {.limit = sizeof(tables->gdt) - 1, .base = (uint64_t)tables->gdt};

    __asm__ volatile("lgdt %0" ::"m"(gdt));
    arch_load_segments();
    __asm__ volatile("lldt %w0" ::"r"(0));
    __asm__ volatile("ltr %w0" ::"r"((uint16_t)ARCH_TSS_SELECTOR));
    wrmsr(IA32_GS_BASE, (uint64_t)cpu);
    wrmsr(IA32_KERNEL_GS_BASE, 0); /* the user's, as long as the kernel's is in force */
    arch_idt_load();
}
