/* SPDX-License-Identifier: MIT */
/* Which serial port is taken, if the machine itself names some. */
#include "arch/ports/find.h"
#include "kernel/console/serial_port.h"
#include "kernel/lib/print.h"
#include "kernel/options/options.h"

static uint32_t baud_of(const struct arch_serial_port *port)
{
    return kopt.serial.baud ? kopt.serial.baud : port->has_baud ? port->baud : KSERIAL_BAUD;
}

static bool take_pci(void)
{
    struct arch_serial_port port;
    for (uint32_t from = 0; arch_serial_pci(&from, &port) == 0;)
        if (kserial_take(&port.uart, baud_of(&port), port.who, false))
            return true;
    return false;
}

static bool take_any(void)
{
    struct arch_serial_port port;
    if (arch_serial_spcr(&port) == 0 && kserial_take(&port.uart, baud_of(&port), port.who, false))
        return true;
    for (struct acpi_dbg2 walk = {0}; arch_serial_dbg2(&walk, &port) == 0;)
        if (kserial_take(&port.uart, baud_of(&port), port.who, false))
            return true;
    return kserial_take_com() || take_pci();
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
        if (kopt.serial.uart.space == ARCH_UART_MEMORY) /* kserial_early could not */
            kserial_take(&kopt.serial.uart, kopt.serial.baud, "option serial=", false);
        break;
    case KOPT_SERIAL_PCI:
        if (!take_pci())
            kprintf("serial: option serial=pci: no function of PCI is a 16550 that answers\n");
        break;
    case KOPT_SERIAL_PCI_FUNCTION:
        if (arch_serial_pci_at(kopt.serial.function, &port) != 0)
            kprintf("serial: option serial=: that function of PCI is not there, or no 16550\n");
        else
            kserial_take(&port.uart, baud_of(&port), port.who, false);
    }
}
