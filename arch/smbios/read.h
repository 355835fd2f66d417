/* SPDX-License-Identifier: MIT */
#pragma once

#include "arch/firmware/smbios/smbios.h"

/* What this machine's SMBIOS says, as smbios_read. After arch_paging_init, boot only. */
int arch_smbios_read(struct smbios *out);
