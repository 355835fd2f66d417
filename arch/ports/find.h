/* SPDX-License-Identifier: MIT */
/* Serial ports that the machine itself names, in its ACPI tables and among its PCI functions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/firmware/pci.h"
#include "arch/firmware/ports/acpi_serial.h"
#include "arch/firmware/uart.h"

/* A port that the machine names. */
struct arch_serial_port {
    struct arch_uart uart; /* clock 0: not told */
    uint32_t baud;         /* has_baud: the firmware's; 0: the one that is set */
    bool has_baud;
    char who[48]; /* names it */
};

/* The one of the ACPI table SPCR; the next one of the table DBG2 (*walk begins with zeros); the next PCI function that
 * is a 16550 (class 0700H, or of Intel's LPSS; not Intel AMT's), from number *from on; that with the number `function`.
 * PCI's have been enabled. 0, or -ENOENT: none, or no more; what is there but cannot be used is said in one line. After
 * arch_paging_init; boot processor, before the others run. */
int arch_serial_spcr(struct arch_serial_port *port);
int arch_serial_dbg2(struct acpi_dbg2 *walk, struct arch_serial_port *port);
int arch_serial_pci(uint32_t *from, struct arch_serial_port *port);
int arch_serial_pci_at(uint16_t function, struct arch_serial_port *port);

extern const struct pci_config arch_pci_config; /* the machine's; boot only: nothing serialises the two ports */
