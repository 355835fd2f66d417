/* SPDX-License-Identifier: MIT */
/* Gives arch/firmware/smbios access to this machine's memory. */
#include "arch/smbios/read.h"

#include "arch/internal.h"

int arch_smbios_read(struct smbios *out)
{
    return smbios_read(&arch_acpi_memory, arch_boot_info->smbios, out);
}
