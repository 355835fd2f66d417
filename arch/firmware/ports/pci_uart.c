/* SPDX-License-Identifier: MIT */
#include "arch/firmware/ports/pci_uart.h"

#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define PCI_ID                   0x00u
#define PCI_NO_VENDOR            0xFFFFu
#define PCI_INTEL                0x8086u
#define PCI_INTEL_KT             0x00B3u /* the function 00:16.3, on all chipsets */
#define PCI_COMMAND              0x04u   /* in the upper half the status, whose bits writing 1 clears */
#define PCI_COMMAND_IO           0x1u
#define PCI_COMMAND_MEMORY       0x2u
#define PCI_COMMAND_MASK         0xFFFFu
#define PCI_CLASS                0x08u /* class, subclass, programming interface, revision */
#define PCI_CLASS_SERIAL         0x0700u
#define PCI_INTERFACE_16550      2u      /* 0: XT's, 1: 16450 */
#define PCI_INTERFACE_16950      6u      /* 3 to 6: 16650 to 16950, which begin as a 16550 */
#define PCI_CLASS_SIGNALS        0x1180u /* LPSS, up to Comet Lake and Ice Lake */
#define PCI_CLASS_COMMUNICATION  0x0780u /* later */
#define PCI_HEADER               0x0Cu
#define PCI_HEADER_TYPE_SHIFT    16u
#define PCI_HEADER_TYPE_MASK     0x7Fu
#define PCI_HEADER_MULTIFUNCTION (1u << 23)
#define PCI_BAR0                 0x10u
#define PCI_BARS                 6u
#define PCI_BAR_IO               0x1u
#define PCI_BAR_TYPE_MASK        0x6u
#define PCI_BAR_TYPE_64          0x4u
#define PCI_BAR_IO_MASK          0xFFFFFFFCu
#define PCI_BAR_MEMORY_MASK      0xFFFFFFF0u

static uint32_t read(const struct pci_config *config, uint16_t function, unsigned offset)
{
    return config->read(config->context, function, offset);
}

/* The first register that holds an address: a port's registers are at the lowest there is. */
static bool find_address(const struct pci_config *config, uint16_t function, struct arch_uart *uart)
{
    for (unsigned i = 0; i < PCI_BARS; i++) {
        const uint32_t bar = read(config, function, PCI_BAR0 + 4 * i);
        *uart = (struct arch_uart){.clock = ARCH_UART_CLOCK, .stride = 1, .width = 1};
        if (bar & PCI_BAR_IO) {
            uart->space = ARCH_UART_IO;
            uart->address = bar & PCI_BAR_IO_MASK;
            if (uart->address && uart->address <= UINT16_MAX + UINT64_C(1) - arch_uart_size(uart))
                return true;
            continue;
        }
        uart->space = ARCH_UART_MEMORY;
        uart->address = bar & PCI_BAR_MEMORY_MASK;
        if ((bar & PCI_BAR_TYPE_MASK) == PCI_BAR_TYPE_64 && ++i < PCI_BARS)
            uart->address |= (uint64_t)read(config, function, PCI_BAR0 + 4 * i) << 32;
        if (uart->address)
            return true;
    }
    return false;
}

/* Where Intel's chipsets have the UARTs of their LPSS, and other parts of it; the registers behind the UART's tell them
 * apart. What has these classes elsewhere may not like to be read. */
static bool maybe_lpss(uint16_t function, uint16_t vendor, uint32_t class)
{
    const unsigned device = function >> 3; /* on bus 0 */
    return vendor == PCI_INTEL && (class == PCI_CLASS_SIGNALS || class == PCI_CLASS_COMMUNICATION) &&
           (device == 0x18 || device == 0x19 || device == 0x1E);
}

/* At its first address, if the firmware has left it on. */
static int lpss_at(const struct pci_config *config, uint16_t function, struct pci_uart *found)
{
    if (!(read(config, function, PCI_COMMAND) & PCI_COMMAND_MEMORY) || !find_address(config, function, &found->uart) ||
        found->uart.space != ARCH_UART_MEMORY)
        return -ENODEV;
    found->lpss = true;
    found->uart.stride = found->uart.width = 4;
    return 0;
}

int pci_uart_at(const struct pci_config *config, uint16_t function, struct pci_uart *found)
{
    const uint32_t id = read(config, function, PCI_ID);
    if ((id & 0xFFFF) == PCI_NO_VENDOR)
        return -ENODEV;
    const uint32_t class = read(config, function, PCI_CLASS), interface = class >> 8 & 0xFF;
    const uint32_t header = read(config, function, PCI_HEADER) >> PCI_HEADER_TYPE_SHIFT & PCI_HEADER_TYPE_MASK;
    *found = (struct pci_uart){.function = function, .vendor = (uint16_t)id, .device = (uint16_t)(id >> 16)};
    if (!header && maybe_lpss(function, found->vendor, class >> 16))
        return lpss_at(config, function, found);
    if (class >> 16 != PCI_CLASS_SERIAL || interface < PCI_INTERFACE_16550 || interface > PCI_INTERFACE_16950 || header)
        return -ENODEV;
    return find_address(config, function, &found->uart) ? 0 : -ENXIO;
}

int pci_uart_next(const struct pci_config *config, uint32_t *from, struct pci_uart *found)
{
    while (*from < PCI_FUNCTIONS) {
        const uint16_t function = (uint16_t)*from, first = function & ~7u;
        /* A device has a function 0, which says whether there are others. */
        if ((read(config, first, PCI_ID) & 0xFFFF) == PCI_NO_VENDOR ||
            (function != first && !(read(config, first, PCI_HEADER) & PCI_HEADER_MULTIFUNCTION))) {
            *from = first + 8u;
            continue;
        }
        ++*from;
        const int e = pci_uart_at(config, function, found);
        if (e != -ENODEV)
            return e;
    }
    return -ENOENT;
}

int pci_uart_enable(const struct pci_config *config, uint16_t function, uint16_t vendor, uint16_t device,
                    enum arch_uart_space space)
{
    if (read(config, function, PCI_ID) != ((uint32_t)device << 16 | vendor))
        return -ENODEV;
    const uint32_t command = read(config, function, PCI_COMMAND) & PCI_COMMAND_MASK;
    const uint32_t wanted = command | (space == ARCH_UART_IO ? PCI_COMMAND_IO : PCI_COMMAND_MEMORY);
    if (wanted != command)
        config->write(config->context, function, PCI_COMMAND, wanted);
    return 0;
}

bool pci_uart_is_amt(const struct pci_uart *found)
{
    return found->vendor == PCI_INTEL && found->function == PCI_INTEL_KT;
}

void pci_uart_show(uint16_t function, uint16_t vendor, uint16_t device, char *text, size_t size)
{
    snprintf(text, size, "PCI %02x:%02x.%x (%04x:%04x)", function >> 8, function >> 3 & 31u, function & 7u, vendor,
             device);
}
