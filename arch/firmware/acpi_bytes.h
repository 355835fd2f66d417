/* SPDX-License-Identifier: MIT */
/* What all ACPI tables have in common: little-endian numbers at any address, and the offsets of the fields of a Generic
 * Address Structure (ACPI, "Generic Address Structure (GAS)"). Callers have checked that the bytes exist. Pure. */
#pragma once

#include <stdint.h>

enum acpi_gas { GAS_SPACE = 0, GAS_BIT_WIDTH = 1, GAS_ACCESS_SIZE = 3, GAS_ADDRESS = 4, GAS_SIZE = 12 };

enum { ACPI_HEADER_REVISION = 8, ACPI_HEADER_SIZE = 36 }; /* ACPI, "System Description Table Header" */

enum { FADT_FLAGS = 112, FADT_SIZE_1 = 116 }; /* ACPI, "Fixed ACPI Description Table (FADT)" */
#define FADT_FLAG_HW_REDUCED (1u << 20)

static inline uint16_t acpi_get16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t acpi_get32(const uint8_t *at)
{
    return acpi_get16(at) | (uint32_t)acpi_get16(at + 2) << 16;
}

static inline uint64_t acpi_get64(const uint8_t *at)
{
    return acpi_get32(at) | (uint64_t)acpi_get32(at + 4) << 32;
}
