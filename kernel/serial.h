/* SPDX-License-Identifier: MIT */
/* Which serial port is taken, by the option serial=, and that it becomes one of the console's sinks. */
#pragma once

#include <stdbool.h>

/* A port at I/O addresses that the option names. First thing: nothing else of the kernel is needed. Boot processor,
 * interrupts off, as the next one. */
void kserial_early(void);
/* What kserial_early could not: a port in memory. After arch_paging_init. */
void kserial_find(void);

/* Whether a port is in use. */
bool kserial_there(void);
