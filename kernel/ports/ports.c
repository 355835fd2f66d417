/* SPDX-License-Identifier: MIT */
/* Which serial port is taken, if the machine itself names some. */
#include "arch/ports/find.h"
#include "kernel/console/serial_port.h"
#include "kernel/lib/print.h"
#include "kernel/ports/options.h"

static uint32_t baud_of(const struct arch_serial_port *port)
{
    return kports_option.baud ? kports_option.baud : port->has_baud ? port->baud : KSERIAL_BAUD;
}

/* With the clock that the option gives. */
static bool take(const struct arch_uart *port, uint32_t baud, const char *who)
{
    struct arch_uart uart = *port;
    if (kports_option.uart.clock)
        uart.clock = kports_option.uart.clock;
    return kserial_take(&uart, baud, who, false);
}

static bool take_com(void)
{
    return kserial_take_com(kports_option.uart.clock, kports_option.baud ? kports_option.baud : KSERIAL_BAUD);
}

static bool take_pci(void)
{
    struct arch_serial_port port;
    for (uint32_t from = 0; arch_serial_pci(&from, &port) == 0;)
        if (take(&port.uart, baud_of(&port), port.who))
            return true;
    return false;
}

static bool take_any(void)
{
    struct arch_serial_port port;
    if (arch_serial_spcr(&port) == 0 && take(&port.uart, baud_of(&port), port.who))
        return true;
    for (struct acpi_dbg2 walk = {0}; arch_serial_dbg2(&walk, &port) == 0;)
        if (take(&port.uart, baud_of(&port), port.who))
            return true;
    return take_com() || take_pci();
}

void kserial_early(void)
{
    if (kports_option.kind == KPORTS_PORT && kports_option.uart.space == ARCH_UART_IO)
        take(&kports_option.uart, kports_option.baud, "option serial=");
}

void kserial_last_resort(void)
{
    if (kports_option.kind == KPORTS_AUTO && !kserial_there())
        take_com();
}

void kserial_find(void)
{
    struct arch_serial_port port;
    switch (kports_option.kind) {
    case KPORTS_AUTO:
        if (!take_any())
            kprintf("serial: no port is there: none that ACPI names, none of COM1 to COM4, none on PCI\n");
        break;
    case KPORTS_PORT:
        if (kports_option.uart.space == ARCH_UART_MEMORY) /* kserial_early could not */
            take(&kports_option.uart, kports_option.baud, "option serial=");
        break;
    case KPORTS_PCI:
        if (!take_pci())
            kprintf("serial: option serial=pci: no function of PCI is a 16550 that answers\n");
        break;
    case KPORTS_PCI_FUNCTION:
        if (arch_serial_pci_at(kports_option.function, &port) != 0)
            kprintf("serial: option serial=: that function of PCI is not there, or no 16550\n");
        else
            take(&port.uart, baud_of(&port), port.who);
    }
}
