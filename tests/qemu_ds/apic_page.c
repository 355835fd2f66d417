/* SPDX-License-Identifier: MIT */
/*
 * An EFI program that lets only the firmware have the local APIC's page, and starts \loader.efi. The page is not
 * mapped: the firmware's page fault, which is this program's from now on, maps it for one instruction. Who has an IDT
 * of its own gets the page fault. SDM vol. 3, "4-Level Paging", "Single-Step Trap".
 */
#include <efi.h>
#include <efilib.h>
#include <stdint.h>

#include "tests/boot/load_next.h"

#define APIC      UINT64_C(0xFEE00000)
#define PRESENT   UINT64_C(1)
#define LARGE     UINT64_C(0x80)
#define ADDRESS   UINT64_C(0x000FFFFFFFFFF000)
#define CR0_WP    UINT64_C(0x10000)
#define VECTOR_DB 1u
#define VECTOR_PF 14u

struct gate {
    uint16_t low, selector, attributes, middle;
    uint32_t high, reserved;
};

static __attribute__((used)) uint64_t *apic_page; /* its entry of the page tables */
extern const uint8_t page_fault[], single_step[];

__asm__(".text\n"
        "page_fault:\n" /* an error code lies below RIP, CS, RFLAGS */
        "    push %rax\n"
        "    mov apic_page(%rip), %rax\n"
        "    orq $1, (%rax)\n"
        "    orq $0x100, 32(%rsp)\n" /* TF */
        "    mov %cr3, %rax\n"
        "    mov %rax, %cr3\n"
        "    pop %rax\n"
        "    add $8, %rsp\n"
        "    iretq\n"
        "single_step:\n"
        "    push %rax\n"
        "    mov apic_page(%rip), %rax\n"
        "    andq $~1, (%rax)\n"
        "    andq $~0x100, 24(%rsp)\n"
        "    mov %cr3, %rax\n"
        "    mov %rax, %cr3\n"
        "    pop %rax\n"
        "    iretq\n");

static void find_page(void)
{
    uint64_t table;
    __asm__ volatile("mov %%cr3, %0" : "=r"(table));
    for (unsigned shift = 39;; shift -= 9) {
        apic_page = (uint64_t *)(uintptr_t)(table & ADDRESS) + (APIC >> shift & 511);
        if (shift == 12 || (shift < 39 && *apic_page & LARGE))
            return;
        table = *apic_page;
    }
}

static void set_gate(struct gate *gate, const uint8_t *handler)
{
    const uint64_t at = (uintptr_t)handler;
    gate->low = (uint16_t)at;
    gate->middle = (uint16_t)(at >> 16);
    gate->high = (uint32_t)(at >> 32);
}

static struct gate *gates, firmware_db, firmware_pf;

static void take_page(void)
{
    struct __attribute__((packed)) {
        uint16_t limit;
        uint64_t base;
    } idt;
    uint64_t cr0;
    __asm__ volatile("cli; sidt %0" : "=m"(idt));
    __asm__ volatile("mov %%cr0, %0" : "=r"(cr0));
    __asm__ volatile("mov %0, %%cr0" ::"r"(cr0 & ~CR0_WP)); /* for good: page tables may be read-only */
    gates = (struct gate *)(uintptr_t)idt.base;
    firmware_db = gates[VECTOR_DB];
    firmware_pf = gates[VECTOR_PF];
    set_gate(&gates[VECTOR_DB], single_step);
    set_gate(&gates[VECTOR_PF], page_fault);
    find_page();
    *apic_page &= ~PRESENT;
    __asm__ volatile("mov %%cr3, %%rax; mov %%rax, %%cr3; sti" ::: "rax", "memory");
}

/* This program goes, and its handlers with it. */
static void give_page(void)
{
    __asm__ volatile("cli");
    *apic_page |= PRESENT;
    gates[VECTOR_DB] = firmware_db;
    gates[VECTOR_PF] = firmware_pf;
    __asm__ volatile("mov %%cr3, %%rax; mov %%rax, %%cr3; sti" ::: "rax", "memory");
}

EFI_STATUS efi_main(EFI_HANDLE self, EFI_SYSTEM_TABLE *system);

EFI_STATUS efi_main(EFI_HANDLE self, EFI_SYSTEM_TABLE *system)
{
    EFI_HANDLE loader;
    InitializeLib(self, system);
    EFI_STATUS status = load_next(self, &loader);
    if (EFI_ERROR(status)) {
        Print(L"apic_page: %r\n", status);
        return status;
    }
    take_page();
    status = BS->StartImage(loader, NULL, NULL);
    give_page();
    return status;
}
