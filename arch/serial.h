/* SPDX-License-Identifier: MIT */
/* The serial console: a 16550 at I/O ports or in memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/firmware/uart.h"

/* Registers of a UART in memory: in arch/ports, which alone knows of one. -EFAULT, -ENOMEM: as arch_serial_init. */
int arch_uart_memory_map(const struct arch_uart *uart) __attribute__((weak));
uint8_t arch_uart_memory_get(const struct arch_uart *uart, unsigned reg) __attribute__((weak));
void arch_uart_memory_put(const struct arch_uart *uart, unsigned reg, uint8_t value) __attribute__((weak));

/* Takes a 16550 into use, and no other one any more: 8 bits, no parity, 1 stop bit; `baud` 0: at the rate it is set to.
 * Loopback test, within the chip. -ERANGE: its clock gives no such rate (arch_uart_divisor); -EFAULT: memory is where
 * its registers should be; -ENOMEM: they cannot be mapped; -ENODEV: it fails the test. Without one every write is
 * dropped and counted, never waited for. One in memory: after arch_paging_init. Boot processor, before the others
 * run. */
int arch_serial_init(const struct arch_uart *uart, uint32_t baud);
/* Its rate in baud; 0: there is no UART in use. */
uint32_t arch_serial_baud(void);
/* Its clock in Hz, as arch_serial_init was told it; 0: there is no UART in use. */
uint32_t arch_serial_clock(void);
/* Gives the UART in use another rate, as near to `baud` as its clock allows, after the last byte has left. -ERANGE: no
 * rate is within 2.5 %, and nothing changes. No lock: nobody else may write meanwhile. */
int arch_serial_set_baud(uint32_t baud);
/* Sends bytes, waiting for the FIFO a bounded time; after one wait in vain it drops and counts until the UART is ready.
 * No lock: kernel/console/print.c serialises. */
void arch_serial_write(const char *data, size_t size);
/* Bytes that arch_serial_write would send now without a wait; 0: not ready, or no UART. No lock. */
size_t arch_serial_ready(void);
/* A byte that has come, or -1: none has, or there is no UART. It keeps 16 of them at most; on a real line more are
 * lost. No lock: one reader. */
int arch_serial_read(void);
/* arch_tsc_common() when a line of this baud rate has sent all that was written. The port may take more before that:
 * QEMU's, whose transmitter is done at once whatever the divisor says, does. */
uint64_t arch_serial_due(void);
/* Waits, a bounded time, until the last byte has left: before the machine goes down. */
void arch_serial_drain(void);
uint64_t arch_serial_dropped(void);
