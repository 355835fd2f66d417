/* SPDX-License-Identifier: MIT */
/* Chooses the serial port, and makes it a sink of the console. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/firmware/uart.h"

#define KSERIAL_BAUD 115200u /* if nothing says otherwise */

/* ---- weak: by default they take one of COM1 to COM4; a part that knows of more ports defines them */
/* A port that needs no search. First thing: nothing else of the kernel is needed. Boot processor, interrupts off, as
 * the next one. */
void kserial_early(void);
/* Looks for one. Until then what is said is kept, and sent to no port: what is connected to another one may not like
 * it. After arch_paging_init; ACPI's tables are looked at, but need not be right. */
void kserial_find(void);
/* For those who end the kernel before kserial_find has: takes one of COM1 to COM4 where any would do. */
void kserial_last_resort(void);

/* ---- for who defines them */
/* Tries a port, and says what came of it, but for one that is only looked for; `who`: what names it. */
bool kserial_take(const struct arch_uart *port, uint32_t baud, const char *who, bool looking);
/* The first of COM1 to COM4 that is there; clock 0: the usual one. */
bool kserial_take_com(uint32_t clock, uint32_t baud);

/* Whether a port is in use. */
bool kserial_there(void);
/* Which one, at what rate, and what named it: "I/O port 0x2f8, 57600 baud: SPCR", or "none". */
const char *kserial_words(void);
