/* SPDX-License-Identifier: MIT */
/*
 * Finds ACPI tables, and reads the one of the processors; any of them may be malformed. Pure: no machine access, also
 * compiled on the host. ACPI 6.x, "ACPI Software Programming Model".
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

struct acpi_problem {
    char table[5];    /* signature, NUL-terminated */
    const char *what; /* in words; NULL: none */
};

struct acpi_info {
    uint32_t apic_ids[MAX_CPUS]; /* of enabled CPUs; [0] is the boot processor's */
    uint32_t cpu_count;
    uint32_t cpus_left_out; /* enabled, but beyond the array */
    uint32_t cpus_disabled; /* entries that are not enabled, those that could be brought online later among them */

    uint64_t ioapics[ACPI_MAX_IOAPICS];
    uint32_t ioapic_count;
    uint32_t ioapics_left_out;
};

/* Reads the MADT. `boot_apic_id` becomes apic_ids[0]. -ENOENT: no RSDP, no MADT; -EINVAL: RSDP, root table or MADT
 * malformed; both with *problem filled. 0, perhaps with *problem filled: a malformed entry, and all behind it, is not
 * used. *info is only meaningful after 0. */
int acpi_parse(const struct acpi_memory *memory, uint64_t rsdp, uint32_t boot_apic_id, struct acpi_info *info,
               struct acpi_problem *problem);

/* Any table, looked up, its length and checksum checked: 0; -ENOENT: there is none, or no RSDP; -EINVAL. *problem says
 * what, if anything. */
int acpi_find(const struct acpi_memory *memory, uint64_t rsdp, const char *signature, const uint8_t **bytes,
              uint32_t *size, struct acpi_problem *problem);
/* All tables, in the order of the root table. acpi_walk begins: as acpi_find. acpi_next: false behind the last; else
 * where the next one is, and its header, which is not checked; NULL: it cannot be read. */
struct acpi_walk {
    const uint8_t *root;
    uint32_t size, at;
    unsigned entry_size;
};
int acpi_walk(const struct acpi_memory *memory, uint64_t rsdp, struct acpi_walk *walk, struct acpi_problem *problem);
bool acpi_next(const struct acpi_memory *memory, struct acpi_walk *walk, uint64_t *phys, const uint8_t **header);
/* The table at `phys`, checked likewise: 0, or -EINVAL. */
int acpi_load(const struct acpi_memory *memory, uint64_t phys, const char *signature, const uint8_t **bytes,
              uint32_t *size, struct acpi_problem *problem);

/* Fills *problem, and returns `error`. */
int acpi_fail(struct acpi_problem *problem, int error, const char *table, const char *what);
