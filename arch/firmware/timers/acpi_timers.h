/* SPDX-License-Identifier: MIT */
/* The timers that ACPI's tables name. Pure: also compiled on the host. ACPI, "Power Management Timer"; "IA-PC HPET
 * Specification", "The ACPI 2.0 HPET Description Table". */
#pragma once

#include "arch/firmware/acpi_tables.h"

struct acpi_timers {
    uint16_t pm_timer;     /* I/O port; 0: none */
    uint8_t pm_timer_bits; /* 24 or 32 */
    uint64_t hpet;         /* physical; 0: none */

    struct acpi_problem ignored[2]; /* malformed, hence as good as not there */
    uint32_t ignored_count;
};

void acpi_timers_parse(const struct acpi_memory *memory, uint64_t rsdp, struct acpi_timers *timers);
