/* SPDX-License-Identifier: MIT */
/* arch/firmware/power/reset.c: from a FADT's bytes, through acpi_power.c, to the order in which a machine is
 * reset. */
#include <string.h>

#include "arch/firmware/power/reset.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"

#define BASE 0x10000u

enum { RSDP = 0, RSDT = 0x40, MADT = 0x80, FADT = 0x100, END = 0x200 };
enum { FADT_1 = 116, FADT_2 = 129, FADT_3 = 244 };                  /* sizes of the table's revisions */
enum { LEGACY_DEVICES = 1, KEYBOARD = 2, NO_VGA = 4, NO_RTC = 32 }; /* IAPC_BOOT_ARCH */
enum { RESET = 1 << 10, REDUCED = 1 << 20 };                        /* flags */

static uint8_t memory[END];

static void put(unsigned at, unsigned size, uint64_t value)
{
    for (unsigned i = 0; i < size; i++)
        memory[at + i] = (uint8_t)(value >> 8 * i);
}

static void seal(unsigned at, unsigned size, unsigned sum_at)
{
    uint8_t sum = 0;
    for (unsigned i = 0; i < size; i++)
        sum = (uint8_t)(sum + memory[at + i]);
    memory[sum_at] = (uint8_t)(memory[sum_at] - sum);
}

static void table(unsigned at, const char *signature, unsigned size)
{
    memcpy(memory + at, signature, 4);
    put(at + 4, 4, size);
    seal(at, size, at + 9);
}

static const void *read_memory(void *context, uint64_t phys, size_t size)
{
    (void)context;
    return phys >= BASE && phys - BASE <= END && size <= END - (phys - BASE) ? memory + (phys - BASE) : NULL;
}

struct fadt {
    unsigned revision, size, boot_arch;
    uint32_t flags;
    uint8_t space, value;
    uint64_t address;
};

static void parse(const struct fadt *fadt, struct acpi_power *info)
{
    const struct acpi_memory reader = {.read = read_memory};

    memset(memory, 0, sizeof(memory));
    memcpy(memory + RSDP, "RSD PTR ", 8);
    put(RSDP + 16, 4, BASE + RSDT);
    seal(RSDP, 20, RSDP + 8);
    put(RSDT + 36, 4, BASE + MADT);
    put(RSDT + 40, 4, BASE + FADT);
    table(RSDT, "RSDT", 44);
    put(MADT + 44, 8, UINT64_C(0x100000800)); /* a processor, enabled */
    table(MADT, "APIC", 52);
    put(FADT + 8, 1, fadt->revision);
    put(FADT + 109, 2, fadt->boot_arch);
    put(FADT + 112, 4, fadt->flags);
    put(FADT + 116, 1, fadt->space);
    put(FADT + 120, 8, fadt->address);
    put(FADT + 128, 1, fadt->value);
    table(FADT, "FACP", fadt->size);
    acpi_power_parse(&reader, BASE, info);
}

static void expect_order(const struct acpi_power *info, bool warm, const char *order)
{
    char text[128];

    arch_reset_show(info, warm, text, sizeof(text));
    assert_string_equal(text, order);
}

/* Which way is there, and which comes first. */
static void test_orders(void **state)
{
    (void)state;
    static const struct {
        struct fadt fadt;
        const char *cold, *warm;
    } cases[] = {
        /* ACPI 1.0: no register; the bytes at 109 are reserved, whatever is in them */
        {{1, FADT_1, 0, 0, 0, 0, 0},
         "CF9H, keyboard controller, triple fault",
         "CF9H, keyboard controller, triple fault"},
        {{2, FADT_2, LEGACY_DEVICES, RESET, ACPI_SPACE_IO, 0x06, 0xCF9},
         "FADT's register (I/O port 0xcf9 = 0x06), CF9H, keyboard controller, triple fault",
         "CF9H, FADT's register (I/O port 0xcf9 = 0x06), keyboard controller, triple fault"},
        /* with a power cycle: only where memory may be lost */
        {{3, FADT_3, KEYBOARD, RESET, ACPI_SPACE_IO, 0x0E, 0xCF9},
         "FADT's register (I/O port 0xcf9 = 0x0e), CF9H, keyboard controller, triple fault",
         "CF9H, FADT's register (I/O port 0xcf9 = 0x06), keyboard controller, triple fault"},
        {{6, FADT_3, NO_VGA | NO_RTC, RESET, ACPI_SPACE_IO, 0x0F, 0x92}, /* 08H of another port means something else */
         "FADT's register (I/O port 0x92 = 0x0f), CF9H, triple fault",
         "CF9H, FADT's register (I/O port 0x92 = 0x0f), triple fault"},
        {{6, FADT_3, LEGACY_DEVICES, 0, ACPI_SPACE_IO, 6, 0xCF9}, /* RESET_REG_SUP is not set */
         "CF9H, triple fault",
         "CF9H, triple fault"},
        {{6, FADT_3, 0, RESET | REDUCED, ACPI_SPACE_MEMORY, 1, 0xFED00010},
         "FADT's register (memory at 0xfed00010 = 0x01), CF9H, triple fault",
         "CF9H, FADT's register (memory at 0xfed00010 = 0x01), triple fault"},
        {{6, FADT_3, KEYBOARD, RESET, ACPI_SPACE_PCI, 8, UINT64_C(0x1F000000AC)},
         "FADT's register (PCI, bus 0, 0x1f000000ac = 0x08), CF9H, keyboard controller, triple fault",
         "CF9H, FADT's register (PCI, bus 0, 0x1f000000ac = 0x08), keyboard controller, triple fault"},
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct acpi_power info;
        parse(&cases[i].fadt, &info);
        assert_int_equal(info.ignored_count, 0);
        expect_order(&info, false, cases[i].cold);
        expect_order(&info, true, cases[i].warm);
    }
}

/* Where no byte can be written the table's other words hold. */
static void test_registers_that_are_none(void **state)
{
    (void)state;
    static const struct {
        uint8_t space;
        uint64_t address;
        bool good;
    } cases[] = {
        {ACPI_SPACE_IO, 0, false},
        {ACPI_SPACE_IO, 1, true},
        {ACPI_SPACE_IO, 0xFFFF, true},
        {ACPI_SPACE_IO, 0x10CF9, false}, /* its low half is not meant */
        {ACPI_SPACE_MEMORY, 0, false},
        {ACPI_SPACE_MEMORY, UINT64_MAX, true}, /* whether it can be mapped is asked later */
        {ACPI_SPACE_PCI, UINT64_C(0x1F000700FF), true},
        {ACPI_SPACE_PCI, UINT64_C(0x2000000004), false},    /* device 32 */
        {ACPI_SPACE_PCI, UINT64_C(0x0100080004), false},    /* function 8 */
        {ACPI_SPACE_PCI, UINT64_C(0x0100000100), false},    /* beyond what CF8H reaches */
        {ACPI_SPACE_PCI, UINT64_C(0x1000100000004), false}, /* bus 1 */
        {3, 0xCF9, false},                                  /* an embedded controller */
        {0x7F, 0xCF9, false},
        {0xFF, UINT64_MAX, false},
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct fadt fadt = {6, FADT_3, 0, RESET, cases[i].space, 6, cases[i].address};
        struct acpi_power info;
        parse(&fadt, &info);
        assert_int_equal(info.ignored_count, !cases[i].good);
        assert_int_equal(info.reset.address != 0, cases[i].good);
        assert_true(info.no_8042);
        if (cases[i].good)
            continue;
        assert_string_equal(info.ignored[0].table, "FACP");
        assert_string_equal(info.ignored[0].what, "its reset register is where no byte can be written");
        expect_order(&info, false, "CF9H, triple fault");
    }
}

/* A panic may come before the tables are parsed: nothing is known to be absent then. */
static void test_before_the_tables(void **state)
{
    (void)state;
    static const struct acpi_power nothing;
    char text[16];

    expect_order(&nothing, false, "CF9H, keyboard controller, triple fault");
    for (size_t size = 1; size <= sizeof(text); size++) { /* cut, never beyond */
        memset(text, 'x', sizeof(text));
        arch_reset_show(&nothing, true, text, size);
        assert_int_equal(strlen(text), size - 1);
        assert_memory_equal(text, "CF9H, keyboard controller", size - 1);
        for (size_t i = size; i < sizeof(text); i++)
            assert_int_equal(text[i], 'x');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_registers_that_are_none),
        cmocka_unit_test(test_before_the_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
