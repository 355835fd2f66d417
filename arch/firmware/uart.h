/* SPDX-License-Identifier: MIT */
/* A serial port as firmware, a bus or an option describes it: where its registers are, and the frequency of its clock.
 * Pure, also compiled on the host. National Semiconductor PC16550D, "Programmable Baud Generator". */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ARCH_UART_CLOCK     1843200u /* Hz; what a PC's ports have: 16 * 115200 */
#define ARCH_UART_REGISTERS 8u

enum arch_uart_space { ARCH_UART_NONE, ARCH_UART_IO, ARCH_UART_MEMORY };

struct arch_uart {
    uint64_t address; /* of register 0: I/O port, or physical address */
    uint32_t clock;   /* Hz; 16 of its cycles are a bit at divisor 1 */
    uint8_t space;    /* enum arch_uart_space */
    uint8_t stride;   /* bytes from one register to the next: 1, 2 or 4 */
    uint8_t width;    /* bytes of an access: 1, 2 or 4, at most `stride` */
};

/* COM1 (n = 0) to COM4, where PCs have them. */
#define ARCH_UART_COMS 4u
struct arch_uart arch_uart_com(unsigned n);

/* Bytes from the first to the last register. */
uint64_t arch_uart_size(const struct arch_uart *uart);

/* The divisor for `baud`, and in *rate (Hz) what it gives. 0, or -ERANGE where that is not within 2.5 % (a receiver
 * that samples in the middle of a bit loses the last of ten at 5 %, and the other end may be off as well); *rate is
 * then the nearest that there is. */
int arch_uart_divisor(uint32_t clock, uint32_t baud, uint16_t *divisor, uint32_t *rate);

/* In words: "I/O port 0x3f8", "memory at 0xfe034000, a register each 4 bytes". */
void arch_uart_show(const struct arch_uart *uart, char *text, size_t size);
