/* SPDX-License-Identifier: MIT */
/*
 * PCI configuration space, through the two I/O ports that every PC has: PCI Local Bus Specification 3.0, "Configuration
 * Mechanism". They reach the first 256 bytes of the functions of segment 0, which is enough here. MCFG's memory-mapped
 * access would have to be found and mapped, and gives the same bytes.
 */
#include "arch/device.h"
#include "arch/ports/find.h"

#define CONFIG_ADDRESS        0xCF8u
#define CONFIG_ENABLE         0x80000000u
#define CONFIG_FUNCTION_SHIFT 8u
#define CONFIG_DATA           0xCFCu

/* The register's dword; its bytes are at CONFIG_DATA and the ports behind it. */
static void config_select(uint16_t function, unsigned offset)
{
    arch_out32(CONFIG_ADDRESS, CONFIG_ENABLE | (uint32_t)function << CONFIG_FUNCTION_SHIFT | (offset & 0xFC));
}

static uint32_t config_read(void *context, uint16_t function, unsigned offset)
{
    (void)context;
    config_select(function, offset);
    return arch_in32(CONFIG_DATA);
}

static void config_write(void *context, uint16_t function, unsigned offset, uint32_t value)
{
    (void)context;
    config_select(function, offset);
    arch_out32(CONFIG_DATA, value);
}

const struct pci_config arch_pci_config = {.read = config_read, .write = config_write};
