/* SPDX-License-Identifier: MIT */
/*
 * The kernel's readers of ACPI tables, SMBIOS and PCI's configuration space. The input's first byte says which; what
 * follows is memory from BASE on, its RSDP or SMBIOS' entry point first, or what the configuration space of some
 * functions holds. A table's bytes are given as copies of exactly their size, and with a checksum that is right unless
 * the first byte says otherwise: no fuzzer finds one.
 */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arch/firmware/acpi_tables.h"
#include "arch/firmware/ports/acpi_serial.h"
#include "arch/firmware/ports/pci_uart.h"
#include "arch/firmware/power/reset.h"
#include "arch/firmware/smbios/smbios.h"
#include "arch/firmware/timers/acpi_timers.h"
#include "kernel/lib/errno.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE            0x10000u
#define COPIES          4096u
#define WRONG_CHECKSUMS 1u
#define PCI             2u
#define SMBIOS          4u

enum { TABLE_HEADER = 36, TABLE_LENGTH = 4, TABLE_CHECKSUM = 9 };
enum { RSDP_SIZE = 20, RSDP_CHECKSUM = 8, RSDP_SIZE_2 = 36, RSDP_CHECKSUM_2 = 32 };

static struct {
    const uint8_t *bytes;
    size_t size;
    bool seal;
    void *copies[COPIES];
    unsigned count;
} memory;

static void seal(uint8_t *bytes, size_t size, size_t at)
{
    uint8_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + bytes[i]);
    bytes[at] = (uint8_t)(bytes[at] - sum);
}

static const void *read_memory(void *context, uint64_t phys, size_t size)
{
    (void)context;
    if (phys < BASE || phys - BASE > memory.size || size > memory.size - (phys - BASE) || memory.count == COPIES)
        return NULL;
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, memory.bytes + (phys - BASE), size);
    memory.copies[memory.count++] = copy;
    if (memory.seal && phys == BASE) {
        if (size >= RSDP_SIZE)
            seal(copy, RSDP_SIZE, RSDP_CHECKSUM);
        if (size >= RSDP_SIZE_2)
            seal(copy, size, RSDP_CHECKSUM_2);
    } else if (memory.seal && size >= TABLE_HEADER) {
        seal(copy, size, TABLE_CHECKSUM);
    }
    return copy;
}

static void check_uart(const struct arch_uart *u)
{
    char text[64];
    assert(u->space == ARCH_UART_IO || u->space == ARCH_UART_MEMORY);
    assert(u->width == 1 || u->width == 2 || u->width == 4);
    assert(u->stride == 1 || u->stride == 2 || u->stride == 4);
    assert(u->width <= u->stride && u->address && u->address % u->width == 0);
    assert(u->address + arch_uart_size(u) - 1 > u->address);
    assert(u->space != ARCH_UART_IO || u->address + arch_uart_size(u) - 1 <= UINT16_MAX);
    arch_uart_show(u, text, sizeof text);
}

/* Each way at most once, one that is there first, the one that always works last, and its words fit a line. */
static void check_reset(const struct acpi_power *info, bool warm)
{
    enum arch_reset_way ways[ARCH_RESET_WAYS];
    const unsigned count = arch_reset_order(info, warm, ways);
    char text[128];

    assert(count >= 2 && count <= ARCH_RESET_WAYS && ways[count - 1] == ARCH_RESET_TRIPLE_FAULT);
    assert(ways[0] == (info->reset.address && !warm ? ARCH_RESET_ACPI : ARCH_RESET_CF9));
    for (unsigned i = 0; i < count; i++) {
        assert(ways[i] != ARCH_RESET_8042 || !info->no_8042);
        for (unsigned j = 0; j < i; j++)
            assert(ways[i] != ways[j]);
    }
    if (info->reset.address) {
        assert(info->reset.space <= ACPI_SPACE_PCI);
        assert(info->reset.space != ACPI_SPACE_IO || info->reset.address <= UINT16_MAX);
        assert(info->reset.space != ACPI_SPACE_PCI || info->reset.address >> 32 < 32);
    }
    arch_reset_show(info, warm, text, sizeof text);
    assert(strstr(text, "triple fault"));
}

static void check_machine(const struct acpi_info *info)
{
    assert(info->cpu_count >= 1 && info->cpu_count <= MAX_CPUS);
    assert(info->apic_ids[0] == 0);
    assert(info->ioapic_count <= ACPI_MAX_IOAPICS);
    for (uint32_t i = 0; i < info->cpu_count; i++)
        for (uint32_t j = 0; j < i; j++)
            assert(info->apic_ids[i] != info->apic_ids[j]);
}

static void read_tables(const uint8_t *data, size_t size, bool right)
{
    const struct acpi_memory reader = {.read = read_memory};
    static struct acpi_info info;
    struct acpi_power power;
    struct acpi_timers timers;
    struct acpi_problem problem;
    struct acpi_serial port;
    const uint8_t *table;
    const char *what = NULL;
    struct acpi_dbg2 walk = {0};
    uint32_t bytes;

    memory.bytes = data;
    memory.size = size;
    memory.seal = right;
    acpi_power_parse(&reader, BASE, &power);
    acpi_timers_parse(&reader, BASE, &timers);
    assert(timers.ignored_count <= 2);
    check_reset(&power, false);
    check_reset(&power, true);
    if (acpi_parse(&reader, BASE, 0, &info, &problem) == 0)
        check_machine(&info);
    else
        assert(problem.what && strlen(problem.table) == 4);
    if (acpi_find(&reader, BASE, "SPCR", &table, &bytes, &problem) == 0 &&
        acpi_spcr_parse(table, bytes, &port, &what) == 0)
        check_uart(&port.uart);
    if (acpi_find(&reader, BASE, "DBG2", &walk.table, &walk.size, &problem) == 0)
        for (uint32_t before = 0;; before = walk.next) {
            int e = acpi_dbg2_next(&walk, &port, &what);
            assert(!what == (e == 0 || e == -ENOENT));
            if (e == -ENOENT || e == -EINVAL)
                break;
            assert(walk.next > before && walk.next <= walk.size); /* it comes to an end */
            if (!e)
                check_uart(&port.uart);
        }
    while (memory.count)
        free(memory.copies[--memory.count]);
}

/* Its entry point has a checksum that is right. */
static void read_smbios(const uint8_t *data, size_t size)
{
    static struct smbios smbios;
    const struct acpi_memory reader = {.read = read_memory};
    uint8_t *sealed = malloc(size + 1);
    if (!sealed)
        abort();
    memcpy(sealed, data, size);
    if (size > 6 && sealed[3] == '3' && sealed[6] <= size)
        seal(sealed, sealed[6], 5);
    else if (size > 5 && sealed[5] <= size)
        seal(sealed, sealed[5], 4);
    memory.bytes = sealed;
    memory.size = size;
    memory.seal = false;
    (void)smbios_read(&reader, (const uint64_t[2]){0, BASE}, &smbios);
    for (unsigned i = 0; i < SMBIOS_STRINGS; i++)
        for (unsigned c = 0; smbios.text[i][c]; c++)
            assert(c < sizeof smbios.text[i] - 1 && smbios.text[i][c] >= ' ' && smbios.text[i][c] <= '~');
    while (memory.count)
        free(memory.copies[--memory.count]);
    free(sealed);
}

/* Functions of 64 bytes, those of buses 0 and 255 in turn. */
static uint32_t config_read(void *context, uint16_t function, unsigned offset)
{
    const uint64_t at = ((function & 0xFFu) * 2u + (function >> 15)) * 64u + offset;
    uint32_t value;
    (void)context;
    assert(offset < 64 && offset % 4 == 0);
    if ((function >> 8 != 0 && function >> 8 != 0xFF) || at + 4 > memory.size)
        return UINT32_MAX;
    memcpy(&value, memory.bytes + at, 4);
    return value;
}

static void read_pci(const uint8_t *data, size_t size)
{
    const struct pci_config config = {.read = config_read};
    struct pci_uart found;
    char text[32];
    int e;

    memory.bytes = data;
    memory.size = size;
    for (uint32_t from = 0; (e = pci_uart_next(&config, &from, &found)) != -ENOENT;) {
        assert(from <= PCI_FUNCTIONS && found.function == from - 1);
        if (!e)
            check_uart(&found.uart);
        pci_uart_show(found.function, found.vendor, found.device, text, sizeof text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size && data[0] & PCI)
        read_pci(data + 1, size - 1);
    else if (size && data[0] & SMBIOS)
        read_smbios(data + 1, size - 1);
    else if (size)
        read_tables(data + 1, size - 1, !(data[0] & WRONG_CHECKSUMS));
    return 0;
}
