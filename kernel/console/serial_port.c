/* SPDX-License-Identifier: MIT */
#include "kernel/console/serial_port.h"

#include "arch/arch.h"
#include "arch/serial.h"
#include "kernel/console/print.h"
#include "kernel/console/sinks.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/options/options.h"

#define STANDARD_BAUD 115200u
static const char by_option[] = "option serial=";

static char where[64], named[48]; /* the port that is taken, and what names it */

/* Tries a port, and says what came of it, but for one that is only looked for; `who`: what names it. */
static bool take(const struct arch_uart *port, uint32_t baud, const char *who, bool looking)
{
    struct arch_uart uart = *port;
    uint16_t divisor;
    uint32_t nearest = 0;
    if (kopt.serial.uart.clock)
        uart.clock = kopt.serial.uart.clock;
    if (!uart.clock)
        uart.clock = ARCH_UART_CLOCK;
    arch_uart_show(&uart, where, sizeof where);
    switch (arch_serial_init(&uart, baud)) {
    case 0:
        kconsole_add(&kprint_serial);
        snprintf(named, sizeof named, "%s", who);
        kprintf("serial: %s\n", kserial_words());
        return true;
    case -ERANGE:
        arch_uart_divisor(uart.clock, baud, &divisor, &nearest);
        kprintf("serial: %s: %s, but its clock of %u Hz does not give %u baud: %u is the nearest\n", where, who,
                uart.clock, baud, nearest);
        return false;
    case -EFAULT:
        kprintf("serial: %s: %s, but that is no device\n", where, who);
        return false;
    case -ENOMEM:
        kprintf("serial: %s: %s, but it cannot be mapped\n", where, who);
        return false;
    default:
        if (!looking)
            kprintf("serial: %s: %s, but no 16550 answers there\n", where, who);
        return false;
    }
}

static uint32_t baud_of(const struct arch_serial_port *port)
{
    return kopt.serial.baud ? kopt.serial.baud : port->has_baud ? port->baud : STANDARD_BAUD;
}

static bool take_com(void)
{
    static const char *const names[KOPT_COM_PORTS] = {"COM1", "COM2", "COM3", "COM4"};
    const uint32_t baud = kopt.serial.baud ? kopt.serial.baud : STANDARD_BAUD;
    for (unsigned n = 0; n < KOPT_COM_PORTS; n++) {
        const struct arch_uart uart = kopt_com_port(n);
        if (take(&uart, baud, names[n], true))
            return true;
    }
    return false;
}

static bool take_pci(void)
{
    struct arch_serial_port port;
    for (uint32_t from = 0; arch_serial_pci(&from, &port) == 0;)
        if (take(&port.uart, baud_of(&port), port.who, false))
            return true;
    return false;
}

static bool take_any(void)
{
    struct arch_serial_port port;
    if (arch_serial_spcr(&port) == 0 && take(&port.uart, baud_of(&port), port.who, false))
        return true;
    for (struct acpi_dbg2 walk = {0}; arch_serial_dbg2(&walk, &port) == 0;)
        if (take(&port.uart, baud_of(&port), port.who, false))
            return true;
    return take_com() || take_pci();
}

void kserial_early(void)
{
    if (kopt.serial.kind == KOPT_SERIAL_PORT && kopt.serial.uart.space == ARCH_UART_IO)
        take(&kopt.serial.uart, kopt.serial.baud, by_option, false);
}

void kserial_find(void)
{
    struct arch_serial_port port;
    switch (kopt.serial.kind) {
    case KOPT_SERIAL_AUTO:
        if (!take_any())
            kprintf("serial: no port is there: none that ACPI names, none of COM1 to COM4, none on PCI\n");
        break;
    case KOPT_SERIAL_PORT:
        if (kopt.serial.uart.space == ARCH_UART_MEMORY)
            take(&kopt.serial.uart, kopt.serial.baud, by_option, false);
        break;
    case KOPT_SERIAL_PCI:
        if (!take_pci())
            kprintf("serial: option serial=pci: no function of PCI is a 16550 that answers\n");
        break;
    case KOPT_SERIAL_PCI_FUNCTION:
        if (arch_serial_pci_at(kopt.serial.function, &port) != 0)
            kprintf("serial: option serial=: that function of PCI is not there, or no 16550\n");
        else
            take(&port.uart, baud_of(&port), port.who, false);
    }
}

void kserial_last_resort(void)
{
    if (kopt.serial.kind == KOPT_SERIAL_AUTO && !kserial_there())
        take_com();
}

bool kserial_there(void)
{
    return arch_serial_baud() != 0;
}

const char *kserial_words(void)
{
    static char words[128];
    if (!kserial_there())
        return "none";
    snprintf(words, sizeof words, "%s, %u baud: %s", where, arch_serial_baud(), named);
    return words;
}
