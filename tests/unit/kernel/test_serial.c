/* SPDX-License-Identifier: MIT */
/* kernel/console/serial_port.c, kernel/ports/ports.c: which of a machine's ports is taken, in which order they are
 * tried, and what is said of those that are not. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/ports/find.h"
#include "arch/serial.h"
#include "kernel/console/print.h"
#include "kernel/console/serial_port.h"
#include "kernel/console/sinks.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"
#include "kernel/options/options.h"
#include "tests/unit/support/cmocka.h"

static struct arch_serial_port spcr, dbg2[2], pci[2];
static uint64_t answers[2];         /* addresses where a UART is */
static char tried[256], said[1024]; /* addresses, in order; lines */
static unsigned consoles;
static uint32_t rate;
const struct console_sink kprint_serial;

int kconsole_add(const struct console_sink *sink)
{
    assert_ptr_equal(sink, &kprint_serial);
    consoles++;
    return 0;
}

void kprintf(const char *format, ...)
{
    size_t n = strlen(said);
    va_list args;
    va_start(args, format);
    vsnprintf(said + n, sizeof said - n, format, args);
    va_end(args);
}

int arch_serial_init(const struct arch_uart *uart, uint32_t baud)
{
    size_t n = strlen(tried);
    uint16_t divisor;
    snprintf(tried + n, sizeof tried - n, "%lx,%u,%u ", (unsigned long)uart->address, baud, uart->clock);
    rate = 0;
    if (baud && arch_uart_divisor(uart->clock, baud, &divisor, &rate)) {
        rate = 0;
        return -ERANGE;
    }
    for (unsigned i = 0; i < 2; i++)
        if (uart->address == answers[i]) {
            rate = rate ? rate : 9600;
            return 0;
        }
    rate = 0;
    return -ENODEV;
}

uint32_t arch_serial_baud(void)
{
    return rate;
}

static int give(const struct arch_serial_port *from, struct arch_serial_port *port)
{
    *port = *from;
    return from->who[0] ? 0 : -ENOENT;
}

int arch_serial_spcr(struct arch_serial_port *port)
{
    return give(&spcr, port);
}

int arch_serial_dbg2(struct acpi_dbg2 *walk, struct arch_serial_port *port)
{
    return walk->ports < 2 ? give(&dbg2[walk->ports++], port) : -ENOENT;
}

int arch_serial_pci(uint32_t *from, struct arch_serial_port *port)
{
    return *from < 2 ? give(&pci[(*from)++], port) : -ENOENT;
}

int arch_serial_pci_at(uint16_t function, struct arch_serial_port *port)
{
    return function == 0x18 ? give(&pci[1], port) : -ENOENT;
}

static struct arch_serial_port port_at(uint64_t address, const char *who)
{
    struct arch_serial_port p = {.uart = {address, 0, ARCH_UART_IO, 1, 1}};
    snprintf(p.who, sizeof p.who, "%s", who);
    return p;
}

static int begin(void **state)
{
    (void)state;
    memset(&spcr, 0, sizeof spcr);
    memset(dbg2, 0, sizeof dbg2);
    memset(pci, 0, sizeof pci);
    memset(answers, 0, sizeof answers);
    tried[0] = said[0] = '\0';
    consoles = rate = 0;
    kopt_defaults();
    return 0;
}

static void set(const char *word)
{
    char error[512];
    assert_int_equal(kopt_set(word, strlen(word), error, sizeof error), 0);
}

/* Everything is there, and nothing answers: the whole order. */
static void test_order(void **state)
{
    (void)state;
    spcr = port_at(0x1000, "SPCR");
    dbg2[0] = port_at(0x2000, "DBG2");
    dbg2[1] = port_at(0x2100, "DBG2");
    pci[0] = port_at(0x3000, "PCI 00:01.0 (8086:0001)");
    pci[1] = port_at(0x3100, "PCI 00:03.0 (8086:0003)");
    kserial_early();
    assert_string_equal(tried, ""); /* nobody is spoken to before it is known whom to speak to */
    kserial_find();
    assert_string_equal(tried, "1000,115200,1843200 2000,115200,1843200 2100,115200,1843200 3f8,115200,1843200 "
                               "2f8,115200,1843200 3e8,115200,1843200 2e8,115200,1843200 3000,115200,1843200 "
                               "3100,115200,1843200 ");
    assert_string_equal(said, "serial: I/O port 0x1000: SPCR, but no 16550 answers there\n"
                              "serial: I/O port 0x2000: DBG2, but no 16550 answers there\n"
                              "serial: I/O port 0x2100: DBG2, but no 16550 answers there\n"
                              "serial: I/O port 0x3000: PCI 00:01.0 (8086:0001), but no 16550 answers there\n"
                              "serial: I/O port 0x3100: PCI 00:03.0 (8086:0003), but no 16550 answers there\n"
                              "serial: no port is there: none that ACPI names, none of COM1 to COM4, none on PCI\n");
    assert_int_equal(consoles, 0);
    assert_false(kserial_there());
}

static void test_first_that_answers(void **state)
{
    static const struct {
        uint64_t at;
        const char *words;
    } cases[] = {{0x1000, "I/O port 0x1000, 57600 baud: SPCR"},
                 {0x2100, "I/O port 0x2100, 115200 baud: DBG2"},
                 {0x3E8, "I/O port 0x3e8, 115200 baud: COM3"},
                 {0x3000, "I/O port 0x3000, 115200 baud: PCI 00:01.0"}};
    for (unsigned i = 0; i < 4; i++) {
        char line[128];
        begin(state);
        spcr = port_at(0x1000, "SPCR");
        spcr.has_baud = true;
        spcr.baud = 57600;
        dbg2[0] = port_at(0x2000, "DBG2");
        dbg2[1] = port_at(0x2100, "DBG2");
        pci[0] = port_at(0x3000, "PCI 00:01.0");
        answers[0] = cases[i].at;
        answers[1] = 0x3000; /* what comes last, but one */
        kserial_find();
        snprintf(line, sizeof line, "serial: %s\n", cases[i].words);
        assert_string_equal(said + strlen(said) - strlen(line), line);
        assert_string_equal(kserial_words(), cases[i].words);
        assert_int_equal(consoles, 1);
        assert_true(kserial_there());
    }
}

/* Whose rate and whose clock: the option's, the table's, or what all have. */
static void test_rates(void **state)
{
    static const struct {
        const char *word;
        uint32_t clock, baud;
        const char *tried;
    } cases[] = {{"serial=auto", 0, 0, "1000,0,1843200 "},
                 {"serial=auto", 48000000, 1500000, "1000,1500000,48000000 "},
                 {"serial=auto,9600", 48000000, 1500000, "1000,9600,48000000 "},
                 {"serial=auto,921600,14745600", 48000000, 0, "1000,921600,14745600 "}};
    for (unsigned i = 0; i < 4; i++) {
        begin(state);
        spcr = port_at(0x1000, "SPCR");
        spcr.has_baud = true;
        spcr.baud = cases[i].baud;
        spcr.uart.clock = cases[i].clock;
        answers[0] = 0x1000;
        set(cases[i].word);
        kserial_find();
        assert_string_equal(tried, cases[i].tried);
    }
    begin(state);
    spcr = port_at(0x1000, "SPCR");
    spcr.uart.clock = 1000000;
    answers[0] = 0x3F8;
    kserial_find();
    assert_string_equal(said, "serial: I/O port 0x1000: SPCR, but its clock of 1000000 Hz does not give 115200 baud: "
                              "62500 is the nearest\nserial: I/O port 0x3f8, 115200 baud: COM1\n");
}

static void test_given(void **state)
{
    begin(state);
    set("serial=com2");
    answers[0] = 0x2F8;
    kserial_early();
    assert_string_equal(said, "serial: I/O port 0x2f8, 115200 baud: option serial=\n");
    kserial_find();
    kserial_last_resort();
    assert_string_equal(tried, "2f8,115200,1843200 ");

    begin(state);
    set("serial=com2");
    kserial_early();
    kserial_find();
    kserial_last_resort(); /* that one, or none */
    assert_string_equal(tried, "2f8,115200,1843200 ");
    assert_string_equal(said, "serial: I/O port 0x2f8: option serial=, but no 16550 answers there\n");

    begin(state);
    set("serial=mmio:0xfe034000:4");
    answers[0] = 0xFE034000;
    kserial_early();
    assert_string_equal(tried, ""); /* it cannot be reached yet */
    kserial_find();
    assert_string_equal(said, "serial: memory at 0xfe034000, a register each 4 bytes, 115200 baud: option serial=\n");

    begin(state);
    set("serial=none");
    answers[0] = 0x3F8;
    kserial_early();
    kserial_find();
    kserial_last_resort();
    assert_string_equal(tried, "");
    assert_string_equal(said, "");
}

static void test_pci(void **state)
{
    begin(state);
    pci[0] = port_at(0x3000, "PCI 00:01.0");
    pci[1] = port_at(0x3100, "PCI 00:03.0");
    answers[0] = 0x3100;
    answers[1] = 0x3F8;
    set("serial=pci,9600");
    kserial_early();
    kserial_find();
    assert_string_equal(tried, "3000,9600,1843200 3100,9600,1843200 ");
    assert_int_equal(consoles, 1);

    begin(state);
    pci[0] = port_at(0x3000, "PCI 00:01.0");
    pci[1] = port_at(0x3100, "PCI 00:03.0");
    answers[0] = 0x3100;
    set("serial=pci:0:3.0");
    kserial_find();
    assert_string_equal(said, "serial: I/O port 0x3100, 115200 baud: PCI 00:03.0\n");

    begin(state);
    set("serial=pci:0:4.0");
    kserial_find();
    assert_string_equal(said, "serial: option serial=: that function of PCI is not there, or no 16550\n");
    begin(state);
    set("serial=pci");
    kserial_find();
    assert_string_equal(said, "serial: option serial=pci: no function of PCI is a 16550 that answers\n");
}

/* A panic before a port is found: one that needs neither tables nor memory. */
static void test_last_resort(void **state)
{
    begin(state);
    spcr = port_at(0x1000, "SPCR");
    answers[0] = 0x1000;
    answers[1] = 0x2F8;
    kserial_last_resort();
    assert_string_equal(tried, "3f8,115200,1843200 2f8,115200,1843200 ");
    assert_int_equal(consoles, 1);
    kserial_last_resort();
    assert_int_equal(consoles, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_order, begin),
        cmocka_unit_test(test_first_that_answers),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_given),
        cmocka_unit_test(test_pci),
        cmocka_unit_test(test_last_resort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
