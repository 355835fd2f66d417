/* SPDX-License-Identifier: MIT */
/* What ACPI's tables say of reset and power-off. Pure, as arch/firmware/acpi_tables.h. */
#pragma once

#include "arch/firmware/acpi_registers.h"
#include "arch/firmware/acpi_tables.h"

struct acpi_power {
    struct acpi_register reset; /* one byte can be written there; of PCI a function of bus 0, CF8H reaches it */
    uint8_t reset_value;
    bool no_8042; /* the FADT says that there is no keyboard controller at ports 60H and 64H */

    bool has_s5; /* power-off: the next six fields mean something */
    uint8_t s5_type_a, s5_type_b;
    uint8_t acpi_enable;
    uint16_t pm1a_control, pm1b_control; /* I/O ports; b may be 0 */
    uint16_t smi_command;                /* I/O port; 0: the machine is in ACPI mode already */

    struct acpi_problem ignored[2]; /* of the FADT and the DSDT: malformed, hence as good as not there */
    uint32_t ignored_count;
};

/* Where there is no FADT, or one that acpi_parse ignores, *power is all 0. */
void acpi_power_parse(const struct acpi_memory *memory, uint64_t rsdp, struct acpi_power *power);
