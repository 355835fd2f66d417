/* SPDX-License-Identifier: MIT */
#include "arch/firmware/ports/acpi_serial.h"

#include <stddef.h>

#include "arch/firmware/acpi_registers.h"
#include "arch/firmware/acpi_tables.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

enum { TABLE_REVISION = 8 };

enum { GAS_ACCESS_UNDEFINED = 0, GAS_ACCESS_DWORD = 3 }; /* and between them bytes and words */

/* SPCR */
enum {
    SPCR_INTERFACE = 36,
    SPCR_BASE = 40,
    SPCR_BAUD = 58,
    SPCR_PCI_DEVICE_ID = 64,
    SPCR_PCI_VENDOR_ID = 66,
    SPCR_PCI_BUS = 68,
    SPCR_PCI_DEVICE = 69,
    SPCR_PCI_FUNCTION = 70,
    SPCR_PCI_SEGMENT = 75,
    SPCR_CLOCK = 76, /* from revision 3 on */
    SPCR_SIZE = 80,
    SPCR_PRECISE_BAUD = 80, /* from revision 4 on */
    SPCR_SIZE_4 = 84,
};
#define SPCR_NO_PCI 0xFFFFu

/* DBG2; a Debug Device Information structure */
enum {
    DBG2_OFFSET = 36,
    DBG2_COUNT = 40,
    DBG2_SIZE = 44,
    DEVICE_LENGTH = 1,
    DEVICE_REGISTERS = 3,
    DEVICE_PORT_TYPE = 12,
    DEVICE_PORT_SUBTYPE = 14,
    DEVICE_BASE_OFFSET = 18,
    DEVICE_SIZE = 22,
};
#define PORT_TYPE_SERIAL 0x8000u

/* Subtypes of serial ports, which SPCR's interface types are as well. */
enum {
    SUBTYPE_16550 = 0x0000,
    SUBTYPE_16550_SUBSET = 0x0001, /* SPCR of revision 1: a 16450 that allows writes to FCR */
    SUBTYPE_16550_GAS = 0x0012,
};

static const char NOT_A_16550[] = "names a port of a type that is not 16550-compatible";

static bool is_16550(uint32_t subtype)
{
    return subtype == SUBTYPE_16550 || subtype == SUBTYPE_16550_SUBSET || subtype == SUBTYPE_16550_GAS;
}

/* Registers in memory: an access has GAS's access size, and they are as far apart as its bit width says; what many
 * tables leave at one byte while accesses are wider. */
static int get_layout(const uint8_t *gas, struct arch_uart *uart, const char **what)
{
    if (gas[GAS_ACCESS_SIZE] > GAS_ACCESS_DWORD) {
        *what = "its port's access size is beyond four bytes";
        return -EINVAL;
    }
    uart->width = gas[GAS_ACCESS_SIZE] == GAS_ACCESS_UNDEFINED ? 1 : (uint8_t)(1u << (gas[GAS_ACCESS_SIZE] - 1));
    switch (gas[GAS_BIT_WIDTH]) {
    case 0:
    case 8:
    case 16:
    case 32:
        uart->stride = gas[GAS_BIT_WIDTH] / 8;
        break;
    default:
        *what = "its port's registers are neither 8 nor 16 nor 32 bits apart";
        return -EINVAL;
    }
    if (uart->stride < uart->width)
        uart->stride = uart->width;
    return 0;
}

static int get_gas(const uint8_t *gas, struct arch_uart *uart, const char **what)
{
    uint64_t last;

    *uart = (struct arch_uart){.address = acpi_get64(gas + GAS_ADDRESS), .stride = 1, .width = 1};
    if (!uart->address) {
        *what = "its port has no address: the firmware uses none";
        return -ENOENT;
    }
    switch (gas[GAS_SPACE]) {
    case ACPI_SPACE_IO:
        uart->space = ARCH_UART_IO;
        if (uart->address <= UINT16_MAX + UINT64_C(1) - arch_uart_size(uart))
            return 0;
        *what = "its port is beyond the I/O ports";
        return -EINVAL;
    case ACPI_SPACE_MEMORY:
        uart->space = ARCH_UART_MEMORY;
        if (get_layout(gas, uart, what))
            return -EINVAL;
        if (uart->address % uart->width == 0 && !__builtin_add_overflow(uart->address, arch_uart_size(uart) - 1, &last))
            return 0;
        *what = "its port's address is impossible";
        return -EINVAL;
    default:
        *what = "its port is neither in memory nor in I/O space";
        return -ENOTSUP;
    }
}

/* Table "Configured Baud Rate". What is reserved there counts as not told: the firmware speaks at some rate. */
static uint32_t get_baud(uint8_t code)
{
    switch (code) {
    case 3:
        return 9600;
    case 4:
        return 19200;
    case 6:
        return 57600;
    case 7:
        return 115200;
    default:
        return 0;
    }
}

int acpi_spcr_parse(const uint8_t *table, uint32_t size, struct acpi_serial *port, const char **what)
{
    memset(port, 0, sizeof *port);
    if (size < SPCR_SIZE) {
        *what = "it is too short";
        return -EINVAL;
    }
    const int e = get_gas(table + SPCR_BASE, &port->uart, what);
    if (e == -ENOENT)
        return e; /* whatever type it is of */
    if (!is_16550(table[SPCR_INTERFACE])) {
        *what = NOT_A_16550;
        return -ENOTSUP;
    }
    if (e)
        return e;
    port->baud = get_baud(table[SPCR_BAUD]);
    if (table[TABLE_REVISION] >= 3)
        port->uart.clock = acpi_get32(table + SPCR_CLOCK);
    if (table[TABLE_REVISION] >= 4 && size >= SPCR_SIZE_4 && acpi_get32(table + SPCR_PRECISE_BAUD))
        port->baud = acpi_get32(table + SPCR_PRECISE_BAUD);

    port->device = acpi_get16(table + SPCR_PCI_DEVICE_ID);
    port->vendor = acpi_get16(table + SPCR_PCI_VENDOR_ID);
    /* Of another segment: the firmware has used it, so that it will be on. */
    port->is_pci = port->device != SPCR_NO_PCI && port->vendor != SPCR_NO_PCI && !table[SPCR_PCI_SEGMENT];
    if (port->is_pci && (table[SPCR_PCI_DEVICE] > 31 || table[SPCR_PCI_FUNCTION] > 7)) {
        *what = "it names an impossible PCI function";
        return -EINVAL;
    }
    if (port->is_pci)
        port->function = (uint16_t)(table[SPCR_PCI_BUS] << 8 | table[SPCR_PCI_DEVICE] << 3 | table[SPCR_PCI_FUNCTION]);
    return 0;
}

static int parse_device(const uint8_t *device, uint32_t size, struct acpi_serial *port, const char **what)
{
    if (!is_16550(acpi_get16(device + DEVICE_PORT_SUBTYPE))) {
        *what = NOT_A_16550;
        return -ENOTSUP;
    }
    const uint32_t base = acpi_get16(device + DEVICE_BASE_OFFSET);
    if (!device[DEVICE_REGISTERS] || base < DEVICE_SIZE || base > size || size - base < GAS_SIZE) {
        *what = "a port's address is not within its entry";
        return -EINVAL;
    }
    const int e = get_gas(device + base, &port->uart, what);
    return e == -ENOENT ? -ENOTSUP : e; /* there may be others */
}

int acpi_dbg2_next(struct acpi_dbg2 *walk, struct acpi_serial *port, const char **what)
{
    memset(port, 0, sizeof *port);
    *what = NULL;
    if (walk->size < DBG2_SIZE) {
        *what = "it is too short";
        return -EINVAL;
    }
    if (!walk->next) { /* entries lie one behind the other */
        walk->left = acpi_get32(walk->table + DBG2_COUNT);
        walk->next = acpi_get32(walk->table + DBG2_OFFSET);
    }
    for (; walk->left; walk->left--) {
        const uint32_t room = walk->next <= walk->size ? walk->size - walk->next : 0;
        if (walk->next < DBG2_SIZE || room < DEVICE_SIZE) {
            *what = "an entry is not within it";
            return -EINVAL;
        }
        const uint8_t *device = walk->table + walk->next;
        const uint32_t length = acpi_get16(device + DEVICE_LENGTH);
        if (length < DEVICE_SIZE || length > room) {
            *what = "the length of an entry is wrong";
            return -EINVAL;
        }
        walk->next += length;
        if (acpi_get16(device + DEVICE_PORT_TYPE) != PORT_TYPE_SERIAL)
            continue; /* something else to debug by */
        walk->left--;
        walk->ports++;
        return parse_device(device, length, port, what);
    }
    return -ENOENT;
}
