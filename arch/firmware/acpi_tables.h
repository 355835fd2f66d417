/* SPDX-License-Identifier: MIT */
/*
 * Reads the ACPI tables that the kernel uses, which may be malformed. Pure: no machine access, also compiled on the
 * host. ACPI 6.x, "ACPI Software Programming Model"; HPET: "IA-PC HPET Specification", "The ACPI 2.0 HPET Description
 * Table".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/lib/limits.h"

#define ACPI_MAX_IOAPICS 64u

/* Gives `size` readable bytes of physical memory, or NULL. They stay readable until acpi_parse returns, or as long
 * as what acpi_find gives is used. */
struct acpi_memory {
    const void *(*read)(void *context, uint64_t phys, size_t size);
    void *context;
};

struct acpi_cpu {
    uint32_t apic_id;
    uint32_t uid;     /* ACPI processor UID */
    uint8_t nmi_lint; /* bit n: LINTn carries NMI */
    uint8_t nmi_low;  /* bit n: that line is active low */
    uint8_t reserved[2];
};

/* An xAPIC's destination field has 8 bits, and 255 is everybody. */
#define ACPI_HIGHEST_XAPIC_ID 254u

struct acpi_register { /* Generic Address Structure */
    uint64_t address;  /* 0: not there */
    uint8_t space;     /* ACPI_SPACE_* */
};
enum { ACPI_SPACE_MEMORY = 0, ACPI_SPACE_IO = 1, ACPI_SPACE_PCI = 2 };

struct acpi_problem {
    char table[5];    /* signature, NUL-terminated */
    const char *what; /* in words */
};

/* What the kernel can do without: the rest of a MADT, the FADT, the HPET and the DMAR table. */
#define ACPI_MAX_IGNORED 4u

struct acpi_info {
    struct acpi_cpu cpus[MAX_CPUS]; /* enabled ones; [0] is the boot processor */
    uint32_t cpu_count;
    uint32_t cpus_left_out; /* enabled, but beyond the array */
    uint32_t cpus_disabled; /* entries that are not enabled, those that could be brought online later among them */

    uint64_t ioapics[ACPI_MAX_IOAPICS];
    uint32_t ioapic_count;
    uint32_t ioapics_left_out;
    bool x2apic_opt_out; /* the firmware asks to stay in xAPIC mode: its own SMM code may know no other */

    uint16_t pm_timer;     /* I/O port; 0: none */
    uint8_t pm_timer_bits; /* 24 or 32 */
    uint64_t hpet;         /* physical; 0: none */

    struct acpi_problem ignored[ACPI_MAX_IGNORED]; /* malformed, hence as good as not there */
    uint32_t ignored_count;
};

/* `boot_apic_id` becomes cpus[0]. 0, or with *problem filled -ENOENT (no RSDP, no MADT) or -EINVAL (RSDP, root table or
 * MADT malformed). A MADT with a malformed entry holds as far as that; info->ignored names it. *info is only meaningful
 * after 0. */
int acpi_parse(const struct acpi_memory *memory, uint64_t rsdp, uint32_t boot_apic_id, struct acpi_info *info,
               struct acpi_problem *problem);

/* Any table, looked up and checked likewise: 0; -ENOENT: there is none, or no RSDP; with *problem filled -EINVAL. */
int acpi_find(const struct acpi_memory *memory, uint64_t rsdp, const char *signature, const uint8_t **bytes,
              uint32_t *size, struct acpi_problem *problem);
/* The table at `phys`, checked likewise: 0, or -EINVAL. */
int acpi_load(const struct acpi_memory *memory, uint64_t phys, const char *signature, const uint8_t **bytes,
              uint32_t *size, struct acpi_problem *problem);

struct acpi_register acpi_get_register(const uint8_t *at);
/* An I/O port that the FADT gives as a 32-bit number and, from revision 2 on, also as a register that wins. */
uint16_t acpi_get_port(const uint8_t *fadt, uint32_t size, unsigned old_at, unsigned gas_at);
