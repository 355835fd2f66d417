/* SPDX-License-Identifier: MIT */
/* Chooses the serial port, by the option serial=, and makes it a sink of the console. */
#pragma once

#include <stdbool.h>

/* A port at I/O addresses that the option names. First thing: nothing else of the kernel is needed. Boot processor,
 * interrupts off, as the next one. */
void kserial_early(void);
/* What kserial_early could not: a port in memory or on PCI, and to look for one (serial=auto). Until then what is said
 * is kept, and sent to no port: what is connected to another one may not like it. After arch_paging_init; ACPI's tables
 * are looked at, but need not be right. */
void kserial_find(void);
/* For those who end the kernel before kserial_find has: takes one of COM1 to COM4 where any would do. */
void kserial_last_resort(void);

/* Whether a port is in use. */
bool kserial_there(void);
/* Which one, at what rate, and what named it: "I/O port 0x2f8, 57600 baud: SPCR", or "none". */
const char *kserial_words(void);
