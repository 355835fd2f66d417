/* SPDX-License-Identifier: MIT */
/*
 * Finds serial ports among the PCI functions of segment 0. Pure: the caller gives access to configuration space; also
 * compiled on the host. PCI Local Bus Specification 3.0, "Configuration Space"; PCI Code and ID Assignment
 * Specification, "Base Class 07h".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/firmware/pci.h"
#include "arch/firmware/uart.h"

#define PCI_FUNCTIONS 0x10000u

struct pci_uart {
    uint16_t function;
    uint16_t vendor, device;
    struct arch_uart uart; /* by its first base address register; of a PC's clock, for nothing tells */
    bool lpss;             /* of Intel's LPSS: a UART only where lpss_uart_check() says so */
};

/* The 16550 at `function`, or what is compatible to it. 0, and *found; -ENODEV: no such function, or not such a port;
 * -ENXIO: it has been given no address. A function of Intel's LPSS only where it answers at its address already. */
int pci_uart_at(const struct pci_config *config, uint16_t function, struct pci_uart *found);

/* The next one from function *from on, which becomes the one after it. 0, -ENXIO as above, or -ENOENT: no more. Looks
 * at all buses, not along bridges: a second socket's root bus is under none of the first. */
int pci_uart_next(const struct pci_config *config, uint32_t *from, struct pci_uart *found);

/* Has it answer at its addresses. 0, or -ENODEV where the function is not the vendor's device that it should be. */
int pci_uart_enable(const struct pci_config *config, uint16_t function, uint16_t vendor, uint16_t device,
                    enum arch_uart_space space);

/* Intel's management engine, as a port: AMT's serial over LAN ("KT"). It loses bytes while the engine is busy. */
bool pci_uart_is_amt(const struct pci_uart *found);

/* "PCI 00:16.3 (8086:a13d)", as lspci writes it. */
void pci_uart_show(uint16_t function, uint16_t vendor, uint16_t device, char *text, size_t size);
