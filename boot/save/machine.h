/* SPDX-License-Identifier: MIT */
/* Which machine this is, as far as one may say it: a stick goes from machine to machine. */
#pragma once

#include "boot/save/save_format.h"

/* Processor and board, in words, behind which all is zero: the same at each start of a machine, whatever its firmware's
 * version, and no serial number. `smbios`: struct boot_info's. */
void save_machine(const uint64_t smbios[2], char words[SAVE_MACHINE]);
