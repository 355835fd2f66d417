/* SPDX-License-Identifier: MIT */
#include "kernel/serial.h"

#include "arch/arch.h"
#include "kernel/console.h"
#include "kernel/errno.h"
#include "kernel/options.h"
#include "kernel/print.h"

/* Tries a port, and says what came of it; `who`: what names it. */
static bool take(const struct arch_uart *uart, uint32_t baud, const char *who)
{
    char where[64];
    uint16_t divisor;
    uint32_t nearest = 0;
    arch_uart_show(uart, where, sizeof where);
    switch (arch_serial_init(uart, baud)) {
    case 0:
        console_add(&kprint_serial);
        kprintf("serial: %s, %u baud: %s\n", where, arch_serial_baud(), who);
        return true;
    case -ERANGE:
        arch_uart_divisor(uart->clock, baud, &divisor, &nearest);
        kprintf("serial: %s: %s, but its clock of %u Hz does not give %u baud: %u is the nearest\n", where, who,
                uart->clock, baud, nearest);
        return false;
    case -ENOMEM:
        kprintf("serial: %s: %s, but it cannot be mapped\n", where, who);
        return false;
    default:
        kprintf("serial: %s: %s, but no 16550 answers there\n", where, who);
        return false;
    }
}

void kserial_early(void)
{
    if (kopt.serial.kind == KOPT_SERIAL_PORT && kopt.serial.uart.space == ARCH_UART_IO)
        take(&kopt.serial.uart, kopt.serial.baud, "option serial=");
}

void kserial_find(void)
{
    if (kopt.serial.kind == KOPT_SERIAL_PORT && kopt.serial.uart.space == ARCH_UART_MEMORY)
        take(&kopt.serial.uart, kopt.serial.baud, "option serial=");
}

bool kserial_there(void)
{
    return arch_serial_baud() != 0;
}
