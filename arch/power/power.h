/* SPDX-License-Identifier: MIT */
/* Reset and power-off. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Reads ACPI's tables, and maps a reset register that lies in memory space; prints what cannot be used. After
 * arch_paging_init; boot only. */
void arch_power_init(void);
/* Writes all caches' lines of this memory back, and waits until that is done: it then survives a reset that leaves the
 * memory's power on. Other CPUs must not write there meanwhile. */
void arch_flush(const void *from, size_t size);
/* Resets the machine: tries the ways of arch/firmware/power/reset.h in their order. If arch_reset_warm is set, a way
 * that keeps memory comes first, if the machine has one. Does not return. */
extern bool arch_reset_warm;
void arch_reboot(void);
/* The order of these ways in words, cut at `size`. */
void arch_reset_words(char *text, size_t size);
void arch_poweroff(void); /* FADT PM1 control and \_S5: returns where the machine gives no simple way */
