/* SPDX-License-Identifier: MIT */
/* What all ACPI tables have in common: a header, and little-endian numbers at any address. Callers have checked that
 * the bytes exist. Pure. */
#pragma once

#include <stdint.h>

enum { ACPI_HEADER_REVISION = 8, ACPI_HEADER_SIZE = 36 }; /* ACPI, "System Description Table Header" */

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
