/* SPDX-License-Identifier: MIT */
/* arch/firmware/ports/acpi_serial.c: SPCR and DBG2 as firmware writes them, then every way to break them. Tables are
 * copied to memory of exactly their size, so that AddressSanitizer sees the first byte read beyond. */
#include <stdlib.h>
#include <string.h>

#include "arch/firmware/acpi_registers.h"
#include "arch/firmware/acpi_tables.h"
#include "arch/firmware/ports/acpi_serial.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"

static void put(uint8_t *at, unsigned size, uint64_t value)
{
    for (unsigned i = 0; i < size; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void put_gas(uint8_t *at, uint8_t space, uint8_t bits, uint8_t access, uint64_t address)
{
    at[0] = space;
    at[1] = bits;
    at[2] = 0;
    at[3] = access;
    put(at + 4, 8, address);
}

/* ---- SPCR -------------------------------------------------------------------------------------------------------- */

struct spcr {
    uint8_t bytes[96];
    uint32_t size;
};

/* COM2 at 57600 baud, of revision 2. */
static struct spcr spcr_new(void)
{
    struct spcr t = {.size = 80};
    memcpy(t.bytes, "SPCR", 4);
    put(t.bytes + 4, 4, t.size);
    t.bytes[8] = 2;
    put_gas(t.bytes + 40, ACPI_SPACE_IO, 8, 0, 0x2F8);
    t.bytes[58] = 6;
    put(t.bytes + 64, 4, UINT32_MAX);
    return t;
}

static int spcr_parse(const struct spcr *t, struct acpi_serial *port, const char **what)
{
    uint8_t *copy = malloc(t->size ? t->size : 1);
    assert_non_null(copy);
    memcpy(copy, t->bytes, t->size);
    *what = NULL;
    int e = acpi_spcr_parse(copy, t->size, port, what);
    free(copy);
    assert_int_equal(e != 0, *what != NULL);
    return e;
}

static void test_spcr(void **state)
{
    struct spcr t = spcr_new();
    struct acpi_serial port;
    const char *what;
    (void)state;
    assert_int_equal(spcr_parse(&t, &port, &what), 0);
    assert_int_equal(port.uart.space, ARCH_UART_IO);
    assert_int_equal(port.uart.address, 0x2F8);
    assert_int_equal(port.uart.stride, 1);
    assert_int_equal(port.uart.width, 1);
    assert_int_equal(port.uart.clock, 0);
    assert_int_equal(port.baud, 57600);
    assert_false(port.is_pci);
}

static void test_spcr_rates(void **state)
{
    static const uint32_t rates[9] = {0, 0, 0, 9600, 19200, 0, 57600, 115200, 0};
    struct spcr t = spcr_new();
    struct acpi_serial port;
    const char *what;
    (void)state;
    for (uint8_t code = 0; code < 9; code++) {
        t.bytes[58] = code;
        assert_int_equal(spcr_parse(&t, &port, &what), 0);
        assert_int_equal(port.baud, rates[code]);
    }
    t = spcr_new();
    t.size = 88;
    put(t.bytes + 76, 4, 48000000);
    put(t.bytes + 80, 4, 1500000);
    static const struct {
        uint8_t revision;
        uint32_t clock, baud;
    } by[] = {{1, 0, 57600}, {2, 0, 57600}, {3, 48000000, 57600}, {4, 48000000, 1500000}};
    for (unsigned i = 0; i < 4; i++) {
        t.bytes[8] = by[i].revision;
        assert_int_equal(spcr_parse(&t, &port, &what), 0);
        assert_int_equal(port.uart.clock, by[i].clock);
        assert_int_equal(port.baud, by[i].baud);
    }
    put(t.bytes + 80, 4, 0); /* none more precise */
    assert_int_equal(spcr_parse(&t, &port, &what), 0);
    assert_int_equal(port.baud, 57600);
    put(t.bytes + 80, 4, 1500000);
    t.size = 83; /* cut short: not there */
    assert_int_equal(spcr_parse(&t, &port, &what), 0);
    assert_int_equal(port.baud, 57600);
}

static void test_spcr_memory(void **state)
{
    static const struct {
        uint8_t bits, access, stride, width;
    } ways[] = {{8, 0, 1, 1},  {8, 1, 1, 1}, {0, 0, 1, 1},  {32, 3, 4, 4}, {32, 1, 4, 1},
                {32, 0, 4, 1}, {8, 3, 4, 4}, {16, 2, 2, 2}, {0, 2, 2, 2}};
    struct spcr t = spcr_new();
    struct acpi_serial port;
    const char *what;
    (void)state;
    t.bytes[36] = 0x12;
    for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        put_gas(t.bytes + 40, ACPI_SPACE_MEMORY, ways[i].bits, ways[i].access, 0x1FE034000);
        assert_int_equal(spcr_parse(&t, &port, &what), 0);
        assert_int_equal(port.uart.space, ARCH_UART_MEMORY);
        assert_int_equal(port.uart.address, 0x1FE034000);
        assert_int_equal(port.uart.stride, ways[i].stride);
        assert_int_equal(port.uart.width, ways[i].width);
    }
}

static void test_spcr_pci(void **state)
{
    struct spcr t = spcr_new();
    struct acpi_serial port;
    const char *what;
    (void)state;
    put(t.bytes + 64, 2, 0xA13D);
    put(t.bytes + 66, 2, 0x8086);
    t.bytes[68] = 0x80;
    t.bytes[69] = 0x16;
    t.bytes[70] = 3;
    assert_int_equal(spcr_parse(&t, &port, &what), 0);
    assert_true(port.is_pci);
    assert_int_equal(port.vendor, 0x8086);
    assert_int_equal(port.device, 0xA13D);
    assert_int_equal(port.function, 0x80B3);
    t.bytes[75] = 1; /* another segment: cannot be looked at, and need not */
    assert_int_equal(spcr_parse(&t, &port, &what), 0);
    assert_false(port.is_pci);
    t.bytes[75] = 0;
    t.bytes[70] = 8;
    assert_int_equal(spcr_parse(&t, &port, &what), -EINVAL);
    t.bytes[70] = 0;
    t.bytes[69] = 32;
    assert_int_equal(spcr_parse(&t, &port, &what), -EINVAL);
}

static void test_spcr_none(void **state)
{
    struct spcr t = spcr_new();
    struct acpi_serial port;
    const char *what;
    (void)state;
    t.bytes[36] = 3;
    put_gas(t.bytes + 40, ACPI_SPACE_IO, 8, 0, 0); /* redirection is off */
    assert_int_equal(spcr_parse(&t, &port, &what), -ENOENT);
}

static void test_spcr_types(void **state)
{
    struct spcr t = spcr_new();
    struct acpi_serial port;
    const char *what;
    (void)state;
    for (unsigned type = 0; type < 256; type++) {
        t.bytes[36] = (uint8_t)type;
        assert_int_equal(spcr_parse(&t, &port, &what), type == 0 || type == 1 || type == 0x12 ? 0 : -ENOTSUP);
    }
}

static void test_spcr_addresses(void **state)
{
    static const struct {
        uint8_t space, bits, access;
        uint64_t address;
        int error;
    } cases[] = {
        {ACPI_SPACE_IO, 8, 1, 0xFFF8, 0},
        {ACPI_SPACE_IO, 8, 1, 0xFFF9, -EINVAL},
        {ACPI_SPACE_IO, 8, 1, 0x100002F8, -EINVAL},
        {ACPI_SPACE_IO, 8, 1, UINT64_MAX, -EINVAL},
        {ACPI_SPACE_MEMORY, 8, 1, UINT64_MAX, -EINVAL},
        {ACPI_SPACE_MEMORY, 8, 1, UINT64_MAX - 7, 0},
        {ACPI_SPACE_MEMORY, 8, 1, UINT64_MAX - 6, -EINVAL},
        {ACPI_SPACE_MEMORY, 32, 3, 0xFE034002, -EINVAL},
        {ACPI_SPACE_MEMORY, 32, 1, 0xFE034003, 0},
        {ACPI_SPACE_MEMORY, 64, 3, 0xFE034000, -EINVAL},
        {ACPI_SPACE_MEMORY, 7, 1, 0xFE034000, -EINVAL},
        {ACPI_SPACE_MEMORY, 32, 4, 0xFE034000, -EINVAL},
        {ACPI_SPACE_MEMORY, 32, 255, 0xFE034000, -EINVAL},
        {ACPI_SPACE_PCI, 8, 1, 0x10, -ENOTSUP},
        {0x7F, 8, 1, 0x10, -ENOTSUP},
    };
    struct spcr t = spcr_new();
    struct acpi_serial port;
    const char *what;
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_gas(t.bytes + 40, cases[i].space, cases[i].bits, cases[i].access, cases[i].address);
        assert_int_equal(spcr_parse(&t, &port, &what), cases[i].error);
    }
}

static void test_spcr_cut(void **state)
{
    struct spcr t = spcr_new();
    struct acpi_serial port;
    const char *what;
    (void)state;
    t.bytes[8] = 4;
    for (t.size = 36; t.size <= 96; t.size++)
        assert_int_equal(spcr_parse(&t, &port, &what), t.size < 80 ? -EINVAL : 0);
}

/* ---- DBG2 -------------------------------------------------------------------------------------------------------- */

struct dbg2 {
    uint8_t bytes[512];
    uint32_t size;
};

static struct dbg2 dbg2_new(void)
{
    struct dbg2 t = {.size = 44};
    memcpy(t.bytes, "DBG2", 4);
    put(t.bytes + 36, 4, 44);
    return t;
}

/* An entry of one address, and a name of two characters. Returns where it is. */
static uint8_t *dbg2_add(struct dbg2 *t, uint16_t type, uint16_t subtype, uint8_t space, uint64_t address)
{
    uint8_t *e = t->bytes + t->size;
    put(e + 1, 2, 40);
    e[3] = 1;
    put(e + 4, 2, 2);
    put(e + 6, 2, 38);
    put(e + 12, 2, type);
    put(e + 14, 2, subtype);
    put(e + 18, 2, 22);
    put(e + 20, 2, 34);
    put_gas(e + 22, space, 8, 1, address);
    put(e + 34, 4, 8);
    memcpy(e + 38, ".", 2);
    t->size += 40;
    put(t->bytes + 40, 4, t->bytes[40] + 1u);
    return e;
}

/* Entries before the next one are no longer what they were: to read one again is wrong, and would take a time that is
 * quadratic in the size of the table. */
static int dbg2_next(const struct dbg2 *t, struct acpi_dbg2 *walk, struct acpi_serial *port, const char **what)
{
    uint8_t *copy = malloc(t->size ? t->size : 1);
    assert_non_null(copy);
    memcpy(copy, t->bytes, t->size);
    if (walk->next > 44)
        memset(copy + 44, 0xFF, walk->next - 44);
    walk->table = copy;
    walk->size = t->size;
    int e = acpi_dbg2_next(walk, port, what);
    free(copy);
    assert_int_equal(*what != NULL, e == -EINVAL || e == -ENOTSUP);
    return e;
}

static void test_dbg2(void **state)
{
    struct dbg2 t = dbg2_new();
    struct acpi_serial port;
    const char *what;
    struct acpi_dbg2 walk = {0};
    (void)state;
    assert_int_equal(dbg2_next(&t, &walk, &port, &what), -ENOENT);
    dbg2_add(&t, 0x8003, 0x8086, ACPI_SPACE_MEMORY, 0xF0000000); /* a network card: passed over */
    dbg2_add(&t, 0x8000, 3, ACPI_SPACE_MEMORY, 0x9000000);       /* a PL011 */
    dbg2_add(&t, 0x8000, 0, ACPI_SPACE_IO, 0x3F8);
    dbg2_add(&t, 0x8000, 0, ACPI_SPACE_IO, 0); /* nowhere */
    dbg2_add(&t, 0x8000, 0x12, ACPI_SPACE_MEMORY, 0xFE034000);
    walk = (struct acpi_dbg2){0};
    assert_int_equal(dbg2_next(&t, &walk, &port, &what), -ENOTSUP);
    assert_int_equal(dbg2_next(&t, &walk, &port, &what), 0);
    assert_int_equal(port.uart.space, ARCH_UART_IO);
    assert_int_equal(port.uart.address, 0x3F8);
    assert_int_equal(dbg2_next(&t, &walk, &port, &what), -ENOTSUP);
    assert_int_equal(dbg2_next(&t, &walk, &port, &what), 0);
    assert_int_equal(port.uart.space, ARCH_UART_MEMORY);
    assert_int_equal(port.uart.address, 0xFE034000);
    assert_false(port.is_pci);
    assert_int_equal(dbg2_next(&t, &walk, &port, &what), -ENOENT);
    assert_int_equal(dbg2_next(&t, &walk, &port, &what), -ENOENT);
}

/* One field of the second entry, or of the table, is wrong; the first port is told before that where it can be. */
static void test_dbg2_broken(void **state)
{
    static const struct {
        unsigned at, size;
        uint32_t value;
        int first, second;
    } cases[] = {
        {36, 4, 0, -EINVAL, 0},           {36, 4, 43, -EINVAL, 0},      {36, 4, 124, -EINVAL, 0},
        {36, 4, UINT32_MAX, -EINVAL, 0},  {36, 4, 103, -EINVAL, 0},     {40, 4, 1, 0, -ENOENT},
        {40, 4, 0, -ENOENT, 0}, /* offset and number of entries */
        {84 + 1, 2, 21, 0, -EINVAL},      {84 + 1, 2, 0, 0, -EINVAL},   {84 + 1, 2, 41, 0, -EINVAL},
        {84 + 1, 2, 0xFFFF, 0, -EINVAL},  {84 + 3, 1, 0, 0, -EINVAL},   {84 + 18, 2, 21, 0, -EINVAL},
        {84 + 18, 2, 28, 0, 0},           {84 + 18, 2, 29, 0, -EINVAL}, {84 + 18, 2, 41, 0, -EINVAL},
        {84 + 18, 2, 0xFFFF, 0, -EINVAL}, {84 + 14, 2, 2, 0, -ENOTSUP}, {84 + 22, 1, 2, 0, -ENOTSUP},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dbg2 t = dbg2_new();
        struct acpi_serial port;
        const char *what;
        struct acpi_dbg2 walk = {0};
        dbg2_add(&t, 0x8000, 0, ACPI_SPACE_IO, 0x3F8);
        uint8_t *second = dbg2_add(&t, 0x8000, 0, ACPI_SPACE_IO, 0x2F8);
        put(t.bytes + cases[i].at, cases[i].size, cases[i].value);
        if (cases[i].at == 84 + 18 && cases[i].value == 28) /* at the very end of it */
            put_gas(second + 28, ACPI_SPACE_IO, 8, 1, 0x2F8);
        assert_int_equal(dbg2_next(&t, &walk, &port, &what), cases[i].first);
        if (!cases[i].first)
            assert_int_equal(dbg2_next(&t, &walk, &port, &what), cases[i].second);
    }
}

static void test_dbg2_cut(void **state)
{
    (void)state;
    for (uint32_t size = 36; size < 84; size++) {
        struct dbg2 t = dbg2_new();
        struct acpi_serial port;
        const char *what;
        struct acpi_dbg2 walk = {0};
        dbg2_add(&t, 0x8000, 0, ACPI_SPACE_IO, 0x3F8);
        t.size = size;
        assert_int_equal(dbg2_next(&t, &walk, &port, &what), -EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spcr),           cmocka_unit_test(test_spcr_rates), cmocka_unit_test(test_spcr_memory),
        cmocka_unit_test(test_spcr_pci),       cmocka_unit_test(test_spcr_none),  cmocka_unit_test(test_spcr_types),
        cmocka_unit_test(test_spcr_addresses), cmocka_unit_test(test_spcr_cut),   cmocka_unit_test(test_dbg2),
        cmocka_unit_test(test_dbg2_broken),    cmocka_unit_test(test_dbg2_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
