/* SPDX-License-Identifier: MIT */
#include "arch/firmware/power/acpi_power.h"

#include "arch/firmware/acpi_registers.h"
#include "kernel/lib/string.h"

enum {
    FADT_DSDT = 40,
    FADT_SMI_CMD = 48,
    FADT_ACPI_ENABLE = 52,
    FADT_PM1A_CNT = 64,
    FADT_PM1B_CNT = 68,
    FADT_IAPC_BOOT_ARCH = 109,
    FADT_RESET_REG = 116,
    FADT_RESET_VALUE = 128,
    FADT_X_DSDT = 140,
    FADT_X_PM1A_CNT = 172,
    FADT_X_PM1B_CNT = 184,
};
#define FADT_IAPC_BOOT_ARCH_REVISION 3u /* ACPI 2.0; before it these bytes are reserved */
#define FADT_IAPC_8042               (1u << 1)
#define FADT_FLAG_RESET_REG_SUP      (1u << 10)

/* AML (ACPI, "ACPI Machine Language Specification") */
enum {
    AML_ZERO = 0x00,
    AML_ONE = 0x01,
    AML_NAME = 0x08,
    AML_BYTE = 0x0A,
    AML_PACKAGE = 0x12,
    AML_ROOT = '\\',
};

/* One small integer constant of a package. Returns the bytes it takes, 0 where it is something else. */
static unsigned aml_integer(const uint8_t *at, size_t left, uint8_t *value)
{
    if (left >= 1 && (at[0] == AML_ZERO || at[0] == AML_ONE)) {
        *value = at[0];
        return 1;
    }
    if (left >= 2 && at[0] == AML_BYTE) {
        *value = at[1];
        return 2;
    }
    return 0;
}

/* Finds Name(_S5_, Package{a, b, ...}) in the DSDT without an AML interpreter: the sleep types are integer constants on
 * every machine, at the root of the namespace. If it is not found, there is no power-off. */
static void find_s5(struct acpi_power *power, const uint8_t *bytes, uint32_t size)
{
    for (uint32_t at = ACPI_HEADER_SIZE + 2; at + 8 <= size; at++) {
        if (memcmp(bytes + at, "_S5_", 4) != 0)
            continue;
        bool named = bytes[at - 1] == AML_NAME || (bytes[at - 1] == AML_ROOT && bytes[at - 2] == AML_NAME);
        if (!named || bytes[at + 4] != AML_PACKAGE)
            continue;
        /* PkgLength: bits 7:6 of its first byte say how many more follow; then NumElements. */
        uint32_t element = at + 5 + 1 + (bytes[at + 5] >> 6) + 1;
        if (element >= size || bytes[element - 1] < 2)
            continue;
        unsigned used = aml_integer(bytes + element, size - element, &power->s5_type_a);
        if (!used || !aml_integer(bytes + element + used, size - element - used, &power->s5_type_b))
            continue;
        power->has_s5 = true;
        return;
    }
}

/* ACPI, "Reset Register": a byte in memory, in I/O space or in the configuration space of a function on bus 0 (of an
 * address there: device 47:32, function 31:16, offset 15:0). The kernel ignores its width, which is always
 * 8. */
static bool parse_reset(struct acpi_power *power, const uint8_t *fadt)
{
    const struct acpi_register reset = acpi_get_register(fadt + FADT_RESET_REG);
    const uint64_t at = reset.address;
    bool good = at != 0;

    if (reset.space == ACPI_SPACE_IO)
        good = good && at <= UINT16_MAX;
    else if (reset.space == ACPI_SPACE_PCI)
        good = good && at >> 32 < 32 && (at >> 16 & 0xFFFF) < 8 && (at & 0xFFFF) < 256;
    else if (reset.space != ACPI_SPACE_MEMORY)
        good = false;
    if (good) {
        power->reset = reset;
        power->reset_value = fadt[FADT_RESET_VALUE];
    }
    return good;
}

void acpi_power_parse(const struct acpi_memory *memory, uint64_t rsdp, struct acpi_power *power)
{
    const uint8_t *fadt, *dsdt;
    uint32_t size, dsdt_size;
    struct acpi_problem problem;

    memset(power, 0, sizeof(*power));
    if (acpi_find(memory, rsdp, "FACP", &fadt, &size, &problem) || size < FADT_SIZE_1)
        return;
    const uint32_t flags = acpi_get32(fadt + FADT_FLAGS);
    if (flags & FADT_FLAG_RESET_REG_SUP && size > FADT_RESET_VALUE && !parse_reset(power, fadt))
        power->ignored[power->ignored_count++] =
            (struct acpi_problem){"FACP", "its reset register is where no byte can be written"};
    power->no_8042 = fadt[ACPI_HEADER_REVISION] >= FADT_IAPC_BOOT_ARCH_REVISION &&
                     !(acpi_get16(fadt + FADT_IAPC_BOOT_ARCH) & FADT_IAPC_8042);
    if (flags & FADT_FLAG_HW_REDUCED)
        return; /* no PM1 control */
    power->pm1a_control = acpi_get_port(fadt, size, FADT_PM1A_CNT, FADT_X_PM1A_CNT);
    power->pm1b_control = acpi_get_port(fadt, size, FADT_PM1B_CNT, FADT_X_PM1B_CNT);
    const uint32_t smi_command = acpi_get32(fadt + FADT_SMI_CMD);
    power->smi_command = smi_command <= UINT16_MAX ? (uint16_t)smi_command : 0;
    power->acpi_enable = fadt[FADT_ACPI_ENABLE];
    uint64_t at = acpi_get32(fadt + FADT_DSDT);
    if (size >= FADT_X_DSDT + 8 && acpi_get64(fadt + FADT_X_DSDT))
        at = acpi_get64(fadt + FADT_X_DSDT);
    if (!power->pm1a_control || !at)
        return;
    if (acpi_load(memory, at, "DSDT", &dsdt, &dsdt_size, &problem))
        power->ignored[power->ignored_count++] = problem;
    else
        find_s5(power, dsdt, dsdt_size);
}
