/* SPDX-License-Identifier: MIT */
/*
 * arch/firmware/ports/lpss_uart.c and arch/ports/find.c: a fake chipset with functions of Intel's LPSS, one of them a
 * UART, from the search for it to what is on its line; and a table DBG2 of more ports than any machine has.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "arch/device.h"
#include "arch/firmware/ports/lpss_uart.h"
#include "arch/internal.h"
#include "arch/ports/find.h"
#include "arch/serial.h"
#include "arch/uart_registers.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"
#include "tests/unit/fake/processor.h"
#include "tests/unit/support/cmocka.h"

#define UART      0x00F0u /* 00:1e.0 */
#define I2C       0x00A8u /* 00:15.0, where no UART is */
#define ENGINE    0x00B0u /* 00:16.0, the management engine, and its function 3, AMT's serial over LAN */
#define KT        0x00B3u
#define UART_BAR  UINT64_C(0x4017000000)
#define ON        0x6u        /* memory, bus master */
#define SPT_CLOCK 0x8C350061u /* 120 MHz * 48 / 3125, as firmware of Sunrise Point leaves it */
#define APL_CLOCK 0xFFFF04B5u /* 100 MHz * 602 / 32767, of Apollo Lake */

static struct {
    uint32_t id, command, class; /* of the function UART */
    struct lpss_registers lpss;
    uint32_t engine_id; /* 0: the machine has none */
    uint8_t lcr, mcr, divisor;
    char out[32];
    size_t sent;
} chip;
static char said[256];
static struct {
    uint8_t bytes[44 + 40 * 34];
    unsigned asked; /* how often for the table: each time its checksum is computed */
} dbg2;

static const struct boot_info boot_info;
const struct boot_info *arch_boot_info = &boot_info;
const struct acpi_memory arch_acpi_memory;

void kprintf(const char *format, ...)
{
    va_list args;
    const size_t n = strlen(said);
    va_start(args, format);
    vsnprintf(said + n, sizeof said - n, format, args);
    va_end(args);
}

int acpi_find(const struct acpi_memory *memory, uint64_t rsdp, const char *signature, const uint8_t **table,
              uint32_t *size, struct acpi_problem *problem)
{
    (void)rsdp, (void)problem;
    assert_ptr_equal(memory, &arch_acpi_memory);
    assert_string_equal(signature, "DBG2");
    *table = dbg2.bytes;
    *size = sizeof dbg2.bytes;
    dbg2.asked++;
    return 0;
}

bool arch_is_memory(const struct boot_info *info, uint64_t phys, uint64_t size)
{
    (void)info;
    return phys < 0x80000000 && size;
}

/* ---- PCI --------------------------------------------------------------------------------------------------------- */

static uint32_t config_read(void *context, uint16_t function, unsigned offset)
{
    (void)context;
    if (function == I2C) /* of the same class; its registers are not to be touched */
        return offset == 0 ? 0xA1608086 : offset == 4 ? ON : offset == 8 ? 0x11800031 : 0x40170010;
    if (chip.engine_id && (function == ENGINE || function == KT))
        return offset == 0x00   ? chip.engine_id
               : offset == 0x04 ? 0x1
               : offset == 0x08 ? (function == KT ? 0x07000231 : 0x07800031)
               : offset == 0x0C ? 0x00800000
               : offset == 0x10 ? 0xF0A1
                                : 0;
    if (function != UART)
        return UINT32_MAX;
    switch (offset) {
    case 0x00:
        return chip.id;
    case 0x04:
        return chip.command;
    case 0x08:
        return chip.class << 8;
    case 0x10:
        return (uint32_t)UART_BAR | 4; /* 64 bits wide */
    case 0x14:
        return UART_BAR >> 32;
    default:
        return 0;
    }
}

static void config_write(void *context, uint16_t function, unsigned offset, uint32_t value)
{
    (void)context;
    fail_msg("%x %x %x", function, offset, value); /* it is taken as it is left */
}

const struct pci_config arch_pci_config = {config_read, config_write, NULL};

/* ---- the chip's registers, of 4 bytes each ----------------------------------------------------------------------- */

void *arch_map_device(uint64_t phys, size_t size)
{
    assert_true(phys == UART_BAR && size <= LPSS_SIZE);
    return (void *)(uintptr_t)phys;
}

uint32_t arch_mmio_read(const volatile uint8_t *at, unsigned width)
{
    assert_int_equal(width, 4);
    switch ((uintptr_t)at - UART_BAR) {
    case LPSS_CLOCK:
        return chip.lpss.clock;
    case LPSS_RESETS:
        return chip.lpss.resets;
    case LPSS_CAPABILITIES:
        return chip.lpss.capabilities;
    case 4 * FCR:
        return IIR_FIFO_MASK;
    case 4 * LSR:
        return LSR_THRE | LSR_TEMT;
    case 4 * MSR:
        return (chip.mcr & MCR_OUT2 ? MSR_DCD : 0u) | (chip.mcr & MCR_OUT1 ? MSR_RI : 0u) |
               (chip.mcr & MCR_DTR ? MSR_DSR : 0u) | (chip.mcr & MCR_RTS ? MSR_CTS : 0u);
    default:
        fail_msg("%p", (const volatile void *)at);
        return 0;
    }
}

void arch_mmio_write(volatile uint8_t *at, unsigned width, uint32_t value)
{
    assert_int_equal(width, 4);
    switch ((uintptr_t)at - UART_BAR) {
    case 4 * THR:
        if (chip.lcr & LCR_DLAB)
            chip.divisor = (uint8_t)value;
        else
            chip.out[chip.sent++] = (char)value;
        return;
    case 4 * IER:
        assert_int_equal(value, 0); /* the upper half of the divisor; no interrupts */
        return;
    case 4 * FCR:
        return;
    case 4 * LCR:
        chip.lcr = (uint8_t)value;
        return;
    case 4 * MCR:
        chip.mcr = (uint8_t)value;
        return;
    default:
        fail_msg("%p", (volatile void *)at);
    }
}

uint64_t arch_tsc_hz(void)
{
    return 1000000;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static int begin(void **state)
{
    (void)state;
    memset(&chip, 0, sizeof chip);
    processor.step = 10;
    chip.id = 0xA1278086;
    chip.command = ON;
    chip.class = 0x118000;
    chip.lpss = (struct lpss_registers){.clock = SPT_CLOCK, .resets = 7, .capabilities = 0x00000210};
    said[0] = '\0';
    return 0;
}

static int search(struct arch_serial_port *port)
{
    uint32_t from = 0;
    return arch_serial_pci(&from, port);
}

static void found_and_used(void **state)
{
    static const struct {
        uint32_t class, clock;
    } cases[] = {{0x118000, SPT_CLOCK}, {0x118000, APL_CLOCK}, {0x078000, SPT_CLOCK}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arch_serial_port port;
        begin(state);
        chip.class = cases[i].class;
        chip.lpss.clock = cases[i].clock;
        assert_int_equal(search(&port), 0);
        assert_string_equal(port.who, "PCI 00:1e.0 (8086:a127)");
        assert_int_equal(arch_serial_pci_at(UART, &port), 0);
        assert_int_equal(arch_serial_init(&port.uart, 115200), 0);
        assert_int_equal(chip.divisor, 1);
        arch_serial_write("Cairn", 5);
        assert_memory_equal(chip.out, "Cairn", 5);
        assert_string_equal(said, "");
    }
}

static void not_left_on(void **state)
{
    static const struct {
        struct lpss_registers lpss;
        const char *what;
    } cases[] = {
        {{SPT_CLOCK, 0, 0x210}, "the firmware has left it in reset"},
        {{SPT_CLOCK, 1, 0x210}, "the firmware has left it in reset"},
        {{SPT_CLOCK & ~1u, 7, 0x210}, "the firmware has left its clock off"},
        {{1, 7, 0x210}, "its clock is not that of a PC's port"},          /* M and N are 0 */
        {{0x00030003, 7, 0x210}, "its clock is not that of a PC's port"}, /* 40 or 33 MHz */
        {{0x8C350051, 7, 0x210}, "its clock is not that of a PC's port"}, /* 1.536 or 1.28 MHz */
        {{0x0001FFFF, 7, 0x210}, "its clock is not that of a PC's port"}, /* more than 32 bits */
        /* another kind of device, one that sleeps */
        {{SPT_CLOCK, 7, 0x200}, NULL},
        {{SPT_CLOCK, 7, 0x220}, NULL},
        {{UINT32_MAX, UINT32_MAX, UINT32_MAX}, NULL},
        {{0, 0, 0}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arch_serial_port port;
        char line[128] = "";
        begin(state);
        chip.lpss = cases[i].lpss;
        assert_int_equal(search(&port), -ENOENT);
        if (cases[i].what)
            snprintf(line, sizeof line, "serial: PCI 00:1e.0 (8086:a127): a UART of Intel's LPSS, but %s: not used\n",
                     cases[i].what);
        assert_string_equal(said, line);
    }
}

static void not_looked_at(void **state)
{
    struct arch_serial_port port;
    begin(state);
    chip.command = 0; /* it does not decode its addresses */
    chip.lpss.capabilities = 0;
    assert_int_equal(search(&port), -ENOENT);
    begin(state);
    chip.id = 0xA1271022; /* another vendor's */
    assert_int_equal(search(&port), -ENOENT);
    begin(state);
    chip.class = 0x110100;
    assert_int_equal(search(&port), -ENOENT);
    assert_string_equal(said, "");
}

/* It is before the other one in the order of functions, and taken only by its number; another maker's is a port. */
static void not_amt(void **state)
{
    struct arch_serial_port port;
    begin(state);
    chip.engine_id = 0xA13D8086;
    assert_int_equal(search(&port), 0);
    assert_string_equal(port.who, "PCI 00:1e.0 (8086:a127)");
    assert_string_equal(said, "serial: PCI 00:16.3 is Intel AMT's serial over LAN, which loses bytes: "
                              "serial=pci:00:16.3 takes it nevertheless\n");
    assert_int_equal(arch_serial_pci_at(KT, &port), 0);
    assert_int_equal(port.uart.address, 0xF0A0);
    chip.command = 0; /* the other one is off */
    assert_int_equal(search(&port), -ENOENT);
    begin(state);
    chip.engine_id = 0x00021B36;
    assert_int_equal(search(&port), 0);
    assert_string_equal(port.who, "PCI 00:16.3 (1b36:0002)");
    assert_string_equal(said, "");
}

/* Ports at 1000H and so on, each second one of another type. */
static void many_in_dbg2(void **state)
{
    struct acpi_dbg2 walk = {0};
    struct arch_serial_port port;
    begin(state);
    memset(&dbg2, 0, sizeof dbg2);
    dbg2.bytes[36] = 44;
    dbg2.bytes[40] = 40;
    for (unsigned i = 0; i < 40; i++) {
        uint8_t *entry = dbg2.bytes + 44 + 34 * i;
        entry[1] = 34;
        entry[3] = 1;
        entry[13] = 0x80;      /* a serial port */
        entry[14] = i % 2 * 3; /* a 16550, or a PL011 */
        entry[18] = 22;
        entry[22] = 1; /* I/O, of 8 bits and bytes */
        entry[23] = 8;
        entry[25] = 1;
        entry[27] = (uint8_t)(0x10 + i);
    }
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(arch_serial_dbg2(&walk, &port), 0);
        assert_int_equal(port.uart.address, 0x1000 + 0x200 * i);
    }
    said[0] = '\0';
    assert_int_equal(arch_serial_dbg2(&walk, &port), -ENOENT);
    assert_string_equal(said, "serial: table DBG2: names a port of a type that is not 16550-compatible: not used\n");
    assert_int_equal(arch_serial_dbg2(&walk, &port), -ENOENT);
    assert_int_equal(dbg2.asked, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_and_used), cmocka_unit_test(not_left_on),  cmocka_unit_test(not_looked_at),
        cmocka_unit_test(not_amt),        cmocka_unit_test(many_in_dbg2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
