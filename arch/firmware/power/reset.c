/* SPDX-License-Identifier: MIT */
#include "arch/firmware/power/reset.h"
#include "kernel/lib/string.h"

unsigned arch_reset_order(const struct acpi_power *acpi, bool warm, enum arch_reset_way ways[ARCH_RESET_WAYS])
{
    unsigned count = 0;

    if (warm)
        ways[count++] = ARCH_RESET_CF9;
    if (acpi->reset.address)
        ways[count++] = ARCH_RESET_ACPI;
    if (!warm)
        ways[count++] = ARCH_RESET_CF9;
    if (!acpi->no_8042)
        ways[count++] = ARCH_RESET_8042;
    ways[count++] = ARCH_RESET_TRIPLE_FAULT;
    return count;
}

uint8_t arch_reset_value(const struct acpi_power *acpi, bool warm)
{
    if (warm && acpi->reset.space == ACPI_SPACE_IO && acpi->reset.address == RST_CNT)
        return (uint8_t)(acpi->reset_value & ~RST_CNT_FULL_RST);
    return acpi->reset_value;
}

static int show_register(const struct acpi_power *acpi, bool warm, char *text, size_t size)
{
    static const char *const spaces[] = {"memory at", "I/O port", "PCI, bus 0,"};

    return snprintf(text, size, "FADT's register (%s 0x%lx = 0x%02x)", spaces[acpi->reset.space],
                    (unsigned long)acpi->reset.address, arch_reset_value(acpi, warm));
}

void arch_reset_show(const struct acpi_power *acpi, bool warm, char *text, size_t size)
{
    static const char *const words[ARCH_RESET_WAYS] = {[ARCH_RESET_CF9] = "CF9H",
                                                       [ARCH_RESET_8042] = "keyboard controller",
                                                       [ARCH_RESET_TRIPLE_FAULT] = "triple fault"};
    enum arch_reset_way ways[ARCH_RESET_WAYS];
    const unsigned count = arch_reset_order(acpi, warm, ways);
    size_t at = 0;

    for (unsigned i = 0; i < count && at < size; i++) {
        if (i)
            at += (size_t)snprintf(text + at, size - at, ", ");
        if (at >= size)
            break;
        at += (size_t)(ways[i] == ARCH_RESET_ACPI ? show_register(acpi, warm, text + at, size - at)
                                                  : snprintf(text + at, size - at, "%s", words[ways[i]]));
    }
}
