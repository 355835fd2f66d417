/* SPDX-License-Identifier: MIT */
/* Access to the configuration space of PCI functions, of segment 0: arch/ports/pci.c has the machine's, tests their
 * own. */
#pragma once

#include <stdint.h>

/* A function is bus << 8 | device << 3 | function; `offset` is a multiple of 4 below 256. */
struct pci_config {
    uint32_t (*read)(void *context, uint16_t function, unsigned offset);
    void (*write)(void *context, uint16_t function, unsigned offset, uint32_t value);
    void *context;
};
