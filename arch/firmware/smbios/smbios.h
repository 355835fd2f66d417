/* SPDX-License-Identifier: MIT */
/*
 * What SMBIOS says of board and BIOS: names, versions and a date, no serial number. Pure; also compiled on the host.
 * DMTF DSP0134, "System Management BIOS (SMBIOS) Reference Specification".
 */
#pragma once

#include "arch/firmware/acpi_tables.h"

enum smbios_string {
    SMBIOS_BIOS_VENDOR,
    SMBIOS_BIOS_VERSION,
    SMBIOS_BIOS_DATE,
    SMBIOS_BOARD_VENDOR,
    SMBIOS_BOARD_PRODUCT,
    SMBIOS_BOARD_VERSION,
    SMBIOS_STRINGS
};

/* "bios.vendor" and so on. */
extern const char *const smbios_names[SMBIOS_STRINGS];

/* Of the first BIOS and the first board that are told of. ASCII that can be printed, NUL-terminated, cut at the end;
 * "": not told. */
struct smbios {
    char text[SMBIOS_STRINGS][65];
};

/* From the first of these entry points that is good; each is a physical address, 0: there is none. 0; -ENOENT: there is
 * none at all; -EINVAL: none is an entry point whose structures can be read. A structure that is too short ends them.
 */
int smbios_read(const struct acpi_memory *memory, const uint64_t entries[2], struct smbios *out);
