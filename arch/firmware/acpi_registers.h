/* SPDX-License-Identifier: MIT */
/* Registers that ACPI's tables name: ACPI, "Generic Address Structure (GAS)" and "Fixed ACPI Description Table (FADT)".
 * Callers have checked that the bytes exist. Pure. */
#pragma once

#include "arch/firmware/acpi_bytes.h"

enum acpi_gas { GAS_SPACE = 0, GAS_BIT_WIDTH = 1, GAS_ACCESS_SIZE = 3, GAS_ADDRESS = 4, GAS_SIZE = 12 };
enum { ACPI_SPACE_MEMORY = 0, ACPI_SPACE_IO = 1, ACPI_SPACE_PCI = 2 };

enum { FADT_FLAGS = 112, FADT_SIZE_1 = 116 };
#define FADT_FLAG_HW_REDUCED (1u << 20)

struct acpi_register {
    uint64_t address; /* 0: not there */
    uint8_t space;    /* ACPI_SPACE_* */
};

static inline struct acpi_register acpi_get_register(const uint8_t *at)
{
    return (struct acpi_register){.address = acpi_get64(at + GAS_ADDRESS), .space = at[GAS_SPACE]};
}

/* An I/O port that the FADT gives as a 32-bit number and, from revision 2 on, also as a register that wins. */
static inline uint16_t acpi_get_port(const uint8_t *fadt, uint32_t size, unsigned old_at, unsigned gas_at)
{
    if (gas_at + GAS_SIZE <= size) {
        struct acpi_register gas = acpi_get_register(fadt + gas_at);
        if (gas.address)
            return gas.space == ACPI_SPACE_IO && gas.address <= UINT16_MAX ? (uint16_t)gas.address : 0;
    }
    uint32_t port = acpi_get32(fadt + old_at);
    return port <= UINT16_MAX ? (uint16_t)port : 0;
}
