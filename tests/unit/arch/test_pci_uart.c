/* SPDX-License-Identifier: MIT */
/* arch/firmware/ports/pci_uart.c: which functions of a machine's PCI are 16550s, where, and that they are switched on.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "arch/firmware/ports/pci_uart.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"

#define FUNCTIONS 8u

static struct fake {
    bool there;
    uint16_t function;
    uint32_t words[16];
} fake[FUNCTIONS];
static unsigned reads, writes;

static struct fake *find(uint16_t function)
{
    for (unsigned i = 0; i < FUNCTIONS; i++)
        if (fake[i].there && fake[i].function == function)
            return &fake[i];
    return NULL;
}

static uint32_t config_read(void *context, uint16_t function, unsigned offset)
{
    assert_ptr_equal(context, fake);
    assert_true(offset % 4 == 0 && offset < 64);
    reads++;
    struct fake *f = find(function);
    return f ? f->words[offset / 4] : UINT32_MAX;
}

static void config_write(void *context, uint16_t function, unsigned offset, uint32_t value)
{
    (void)context;
    writes++;
    assert_int_equal(offset, 4);
    assert_int_equal(value >> 16, 0); /* writing 1 would clear the status */
    struct fake *f = find(function);
    assert_non_null(f);
    f->words[1] = (f->words[1] & 0xFFFF0000) | value;
}

static const struct pci_config config = {config_read, config_write, fake};

static int begin(void **state)
{
    (void)state;
    memset(fake, 0, sizeof fake);
    reads = writes = 0;
    return 0;
}

/* A function of this class (class, subclass, interface), with one address. */
static struct fake *add(uint16_t function, uint32_t class, uint32_t bar)
{
    for (unsigned i = 0;; i++) {
        assert_true(i < FUNCTIONS);
        if (fake[i].there)
            continue;
        fake[i] = (struct fake){.there = true, .function = function};
        fake[i].words[0] = 0x00021B36;
        fake[i].words[1] = 0x02900104;
        fake[i].words[2] = class << 8;
        fake[i].words[4] = bar;
        return &fake[i];
    }
}

static void test_all_buses(void **state)
{
    struct pci_uart found;
    uint32_t from = 0;
    (void)state;
    add(0x0000, 0x060000, 0);
    add(0x0018, 0x070002, 0xC001);
    add(0x00B0, 0x078000, 0xF0000004)->words[3] = 0x00800000;
    add(0x00B3, 0x070002, 0xE0A1);
    add(0x0121, 0x070002, 0xE0B1); /* without a function 0 there is no device */
    add(0xFFF8, 0x070002, 0xFE000000);
    add(0xFFF9, 0x070002, 0xFE001000); /* its function 0 says that it is alone */
    static const struct {
        uint16_t function;
        uint64_t address;
        uint8_t space;
    } expected[] = {
        {0x0018, 0xC000, ARCH_UART_IO}, {0x00B3, 0xE0A0, ARCH_UART_IO}, {0xFFF8, 0xFE000000, ARCH_UART_MEMORY}};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(pci_uart_next(&config, &from, &found), 0);
        assert_int_equal(found.function, expected[i].function);
        assert_int_equal(found.uart.address, expected[i].address);
        assert_int_equal(found.uart.space, expected[i].space);
        assert_int_equal(found.uart.stride, 1);
        assert_int_equal(found.uart.width, 1);
        assert_int_equal(found.uart.clock, ARCH_UART_CLOCK);
        assert_int_equal(found.vendor, 0x1B36);
        assert_int_equal(found.device, 0x0002);
    }
    assert_int_equal(pci_uart_next(&config, &from, &found), -ENOENT);
    assert_int_equal(pci_uart_next(&config, &from, &found), -ENOENT);
    assert_int_equal(writes, 0); /* looking changes nothing */
    assert_true(reads < 2 * 8192 + 200);
}

static void test_classes(void **state)
{
    static const struct {
        uint32_t class;
        int e;
    } cases[] = {{0x070000, -ENODEV}, {0x070001, -ENODEV}, {0x070002, 0},       {0x070003, 0},
                 {0x070006, 0},       {0x070007, -ENODEV}, {0x0700FF, -ENODEV}, {0x070102, -ENODEV},
                 {0x070202, -ENODEV}, {0x080002, -ENODEV}};
    struct pci_uart found;
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(NULL);
        add(0x18, cases[i].class, 0xC001);
        assert_int_equal(pci_uart_at(&config, 0x18, &found), cases[i].e);
    }
    begin(NULL);
    add(0x18, 0x070002, 0xC001)->words[3] = 0x00010000; /* a bridge of this class there is none */
    assert_int_equal(pci_uart_at(&config, 0x18, &found), -ENODEV);
    assert_int_equal(pci_uart_at(&config, 0x20, &found), -ENODEV);
}

static void test_addresses(void **state)
{
    static const struct {
        uint32_t bars[6];
        int e;
        uint8_t space;
        uint64_t address;
    } cases[] = {
        {{0xC001}, 0, ARCH_UART_IO, 0xC000},
        {{0xFFF9}, 0, ARCH_UART_IO, 0xFFF8},
        {{0xFFFD, 0xE001}, 0, ARCH_UART_IO, 0xE000},          /* eight ports do not fit */
        {{0x10001, 0, 0xE001}, 0, ARCH_UART_IO, 0xE000},      /* no PC has this port */
        {{0x1, 0xFE000000}, 0, ARCH_UART_MEMORY, 0xFE000000}, /* not assigned, but the next one is */
        {{0xFE000008}, 0, ARCH_UART_MEMORY, 0xFE000000},
        {{0xFE000004, 0x38}, 0, ARCH_UART_MEMORY, 0x38FE000000},
        {{0x00000004, 0x38}, 0, ARCH_UART_MEMORY, 0x3800000000},
        {{0x00000004, 0, 0xC001}, 0, ARCH_UART_IO, 0xC000},
        {{0, 0, 0, 0, 0, 0xFE000004}, 0, ARCH_UART_MEMORY, 0xFE000000}, /* its upper half is not there */
        {{0}, -ENXIO, 0, 0},
        {{1, 1, 1, 1, 1, 1}, -ENXIO, 0, 0},
    };
    struct pci_uart found;
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t from = 0;
        begin(NULL);
        memcpy(&add(0x18, 0x070002, 0)->words[4], cases[i].bars, sizeof cases[i].bars);
        assert_int_equal(pci_uart_next(&config, &from, &found), cases[i].e);
        assert_int_equal(found.function, 0x18);
        assert_int_equal(from, 0x19);
        if (cases[i].e)
            continue;
        assert_int_equal(found.uart.space, cases[i].space);
        assert_int_equal(found.uart.address, cases[i].address);
    }
}

static void test_enable(void **state)
{
    struct fake *f = add(0x18, 0x070002, 0xC001);
    (void)state;
    assert_int_equal(pci_uart_enable(&config, 0x18, 0x1B36, 2, ARCH_UART_IO), 0);
    assert_int_equal(f->words[1], 0x02900105);
    assert_int_equal(pci_uart_enable(&config, 0x18, 0x1B36, 2, ARCH_UART_IO), 0);
    assert_int_equal(writes, 1); /* it was on */
    assert_int_equal(pci_uart_enable(&config, 0x18, 0x1B36, 2, ARCH_UART_MEMORY), 0);
    assert_int_equal(f->words[1], 0x02900107);
    assert_int_equal(pci_uart_enable(&config, 0x18, 0x1B36, 3, ARCH_UART_IO), -ENODEV);
    assert_int_equal(pci_uart_enable(&config, 0x18, 0x8086, 2, ARCH_UART_IO), -ENODEV);
    assert_int_equal(pci_uart_enable(&config, 0x20, 0x1B36, 2, ARCH_UART_IO), -ENODEV);
    assert_int_equal(writes, 2);
}

static void test_name(void **state)
{
    char text[48];
    (void)state;
    pci_uart_show(0x80B3, 0x8086, 0xA13D, text, sizeof text);
    assert_string_equal(text, "PCI 80:16.3 (8086:a13d)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_all_buses, begin), cmocka_unit_test_setup(test_classes, begin),
        cmocka_unit_test_setup(test_addresses, begin), cmocka_unit_test_setup(test_enable, begin),
        cmocka_unit_test_setup(test_name, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
