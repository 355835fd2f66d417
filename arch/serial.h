/* SPDX-License-Identifier: MIT */
/* The serial console: a 16550 at I/O ports or in memory, and the search for the ports of the machine. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/firmware/acpi_serial.h"
#include "arch/firmware/uart.h"

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

/* A port that the machine names. */
struct arch_serial_port {
    struct arch_uart uart; /* clock 0: not told */
    uint32_t baud;         /* has_baud: the firmware's; 0: the one that is set */
    bool has_baud;
    char who[48]; /* names it */
};

/* The one of the ACPI table SPCR; the next one of the table DBG2 (*walk begins with zeros); the next PCI function that
 * is a 16550 (class 0700H, or of Intel's LPSS), from number *from on; that with the number `function`. PCI's have been
 * enabled. 0, or -ENOENT: none, or no more; what is there but cannot be used is said in one line. After
 * arch_paging_init; boot processor, before the others run. */
int arch_serial_spcr(struct arch_serial_port *port);
int arch_serial_dbg2(struct acpi_dbg2 *walk, struct arch_serial_port *port);
int arch_serial_pci(uint32_t *from, struct arch_serial_port *port);
int arch_serial_pci_at(uint16_t function, struct arch_serial_port *port);
