/* SPDX-License-Identifier: MIT */
/*
 * The order in which the ways to reset a machine are tried, from what its FADT says. Pure, also compiled on the host.
 *
 * First the reset register (ACPI, "Reset Register"), if there is one: a write resets the entire machine at once, and it
 * is the only way that the firmware guarantees. Then port CF9H of Intel's chipsets: no table guarantees it, but it also
 * resets the whole platform, and without such a chipset the bytes have no effect. Then the keyboard controller's pulse,
 * which on many chipsets is only the processors' INIT#. It is written only if the FADT does not exclude such a
 * controller (ACPI, "IA-PC Boot Architecture Flags"), because other machines may have anything at ports 60H and 64H.
 * Last a triple fault, which needs nothing. A reset that must keep the contents of memory begins with CF9H, which is
 * known to keep them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/firmware/power/acpi_power.h"

/* Intel's PCH datasheets, "Reset Control Register (RST_CNT)". */
#define RST_CNT          0xCF9u
#define RST_CNT_SYS_RST  0x02u /* hard reset; 0: INIT# alone */
#define RST_CNT_RST_CPU  0x04u /* from 0 to 1: now */
#define RST_CNT_FULL_RST 0x08u /* power cycle: memory loses what it holds */

enum arch_reset_way { ARCH_RESET_ACPI, ARCH_RESET_CF9, ARCH_RESET_8042, ARCH_RESET_TRIPLE_FAULT };
#define ARCH_RESET_WAYS 4u

/* Fills `ways` in the order in which they are to be tried, each at most once, and returns how many there are. `warm`:
 * what is in memory is to stay there. */
unsigned arch_reset_order(const struct acpi_power *acpi, bool warm, enum arch_reset_way ways[ARCH_RESET_WAYS]);

/* What the FADT's register is written with; warm: without the power cycle, where it is known which bit that is. */
uint8_t arch_reset_value(const struct acpi_power *acpi, bool warm);

/* The order in words, cut at `size`: "FADT's register (I/O port 0xcf9 = 0x0f), CF9H, triple fault". */
void arch_reset_show(const struct acpi_power *acpi, bool warm, char *text, size_t size);
