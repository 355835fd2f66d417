/* SPDX-License-Identifier: MIT */
#include "arch/ports/find.h"

#include "arch/device.h"
#include "arch/firmware/ports/lpss_uart.h"
#include "arch/firmware/ports/pci_uart.h"
#include "arch/internal.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"

#define DBG2_PORTS_MAX 16u /* of a hostile table's many */

/* 0; -ENOENT where there is no such table that can be read. */
static int find_table(const char *signature, const uint8_t **table, uint32_t *size)
{
    struct acpi_problem problem;
    int e = acpi_find(&arch_acpi_memory, arch_boot_info->rsdp, signature, table, size, &problem);
    if (e == -EINVAL)
        kprintf("serial: table %s: %s: not used\n", problem.table, problem.what);
    return e ? -ENOENT : 0;
}

static int enable(const struct acpi_serial *from, struct arch_serial_port *port)
{
    char name[32];
    if (!from->is_pci)
        return 0;
    pci_uart_show(from->function, from->vendor, from->device, name, sizeof name);
    if (pci_uart_enable(&arch_pci_config, from->function, from->vendor, from->device, from->uart.space)) {
        kprintf("serial: %s names %s, but that is another device: not used\n", port->who, name);
        return -ENOENT;
    }
    size_t n = strlen(port->who);
    snprintf(port->who + n, sizeof port->who - n, ", %s", name);
    return 0;
}

int arch_serial_spcr(struct arch_serial_port *port)
{
    const uint8_t *table;
    uint32_t size;
    struct acpi_serial found;
    const char *what;
    if (find_table("SPCR", &table, &size))
        return -ENOENT;
    if (acpi_spcr_parse(table, size, &found, &what)) {
        kprintf("serial: table SPCR: %s: not used\n", what);
        return -ENOENT;
    }
    *port = (struct arch_serial_port){.uart = found.uart, .baud = found.baud, .has_baud = true, .who = "SPCR"};
    return enable(&found, port);
}

int arch_serial_dbg2(struct acpi_dbg2 *walk, struct arch_serial_port *port)
{
    struct acpi_serial found;
    const char *what;
    if (!walk->table && find_table("DBG2", &walk->table, &walk->size))
        return -ENOENT;
    while (walk->ports < DBG2_PORTS_MAX) {
        int e = acpi_dbg2_next(walk, &found, &what);
        if (!e) {
            *port = (struct arch_serial_port){.uart = found.uart, .who = "DBG2"};
            return 0;
        }
        if (what)
            kprintf("serial: table DBG2: %s: not used\n", what);
        if (e != -ENOTSUP)
            break;
    }
    walk->ports = DBG2_PORTS_MAX; /* what ended it has been said */
    return -ENOENT;
}

/* 0, or -ENODEV: none that can be used. */
static int look_at_lpss(uint64_t address, const char *who)
{
    const char *what = NULL;
    const volatile uint8_t *at = arch_map_device(address, LPSS_SIZE);
    if (!at)
        return -ENODEV; /* no device at all */
    const struct lpss_registers lpss = {.clock = arch_mmio_read(at + LPSS_CLOCK, 4),
                                        .resets = arch_mmio_read(at + LPSS_RESETS, 4),
                                        .capabilities = arch_mmio_read(at + LPSS_CAPABILITIES, 4)};
    if (lpss_uart_check(&lpss, &what) == 0)
        return 0;
    if (what)
        kprintf("serial: %s: a UART of Intel's LPSS, but %s: not used\n", who, what);
    return -ENODEV;
}

static int take_pci(int e, const struct pci_uart *found, struct arch_serial_port *port)
{
    *port = (struct arch_serial_port){.uart = found->uart};
    pci_uart_show(found->function, found->vendor, found->device, port->who, sizeof port->who);
    if (e) {
        kprintf("serial: %s: the firmware has given it no address: not used\n", port->who);
        return e;
    }
    if (found->lpss)
        return look_at_lpss(found->uart.address, port->who);
    return pci_uart_enable(&arch_pci_config, found->function, found->vendor, found->device, found->uart.space);
}

int arch_serial_pci(uint32_t *from, struct arch_serial_port *port)
{
    struct pci_uart found;
    for (;;) {
        int e = pci_uart_next(&arch_pci_config, from, &found);
        if (e != -ENOENT && pci_uart_is_amt(&found))
            kprintf("serial: PCI 00:16.3 is Intel AMT's serial over LAN, which loses bytes: "
                    "serial=pci:00:16.3 takes it nevertheless\n");
        else if (e == -ENOENT || take_pci(e, &found, port) == 0)
            return e;
    }
}

int arch_serial_pci_at(uint16_t function, struct arch_serial_port *port)
{
    struct pci_uart found;
    int e = pci_uart_at(&arch_pci_config, function, &found);
    return e == -ENODEV || take_pci(e, &found, port) ? -ENOENT : 0;
}
