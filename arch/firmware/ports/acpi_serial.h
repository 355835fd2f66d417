/* SPDX-License-Identifier: MIT */
/*
 * The serial ports in ACPI tables, which may be malformed. Pure: no machine access, also compiled on the host.
 * Microsoft, "Serial Port Console Redirection Table (SPCR)" and "Microsoft Debug Port Table 2 (DBG2)"; ACPI 6.x,
 * "Generic Address Structure (GAS)". The caller has found the table and checked its length and checksum.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/firmware/uart.h"

struct acpi_serial {
    struct arch_uart uart; /* its clock is 0 where the table does not tell */
    uint32_t baud;         /* 0: the one that the firmware has set */
    bool is_pci;           /* a PCI function of segment 0, which the next three name */
    uint16_t function;     /* bus << 8 | device << 3 | function */
    uint16_t vendor, device;
};

/* The one port of an SPCR. 0; or with *what, in words: -ENOENT (the firmware uses none), -EINVAL (malformed), -ENOTSUP
 * (not a 16550, or somewhere the kernel does not reach). */
int acpi_spcr_parse(const uint8_t *table, uint32_t size, struct acpi_serial *port, const char **what);

/* A walk through a DBG2: begins with its table and size and zeros. Each of its entries is read once. */
struct acpi_dbg2 {
    const uint8_t *table;
    uint32_t size;
    uint32_t ports; /* that acpi_dbg2_next has told, also those that cannot be used */
    uint32_t next;  /* where the next entry lies; 0: the first one, where the table says */
    uint32_t left;  /* entries from there on */
};

/* The next port of a DBG2. 0; -ENOENT without *what: there are no more; with *what, in words: -EINVAL (malformed: the
 * last answer) or -ENOTSUP, as above. */
int acpi_dbg2_next(struct acpi_dbg2 *walk, struct acpi_serial *port, const char **what);
