/* SPDX-License-Identifier: MIT */
/* kernel/faster/faster.c: how the kernel agrees on a faster line, with an other end that answers, does not, or of
 * which one direction is no good. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/serial.h"
#include "kernel/console/print.h"
#include "kernel/console/serial_port.h"
#include "kernel/faster/faster.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/line_rate.h"
#include "kernel/lib/print.h"
#include "kernel/options/options.h"
#include "tests/unit/support/cmocka.h"

#define MS 1000u /* TSC cycles in one */

static struct {
    uint32_t clock, baud; /* of the kernel's port */
    const char *answers;  /* to the offer; NULL: nobody does */
    unsigned wrong;       /* so many patterns come back with one character changed, */
    unsigned lost;        /* or without one */
    uint32_t changes;     /* of the rate */
    char in[2048];        /* what is on its way to the kernel */
    size_t in_size, in_at;
    char said[1024];
    unsigned tests;
    uint64_t tsc, said_tsc; /* said_tsc: when the last words were said */
} world;

uint64_t arch_rdtsc(void)
{
    return world.tsc += 3;
}

uint64_t arch_tsc_hz(void)
{
    return 1000 * MS;
}

void arch_pause(void)
{
}

uint32_t arch_serial_baud(void)
{
    return world.baud;
}

uint32_t arch_serial_clock(void)
{
    return world.clock;
}

int arch_serial_set_baud(uint32_t baud)
{
    world.baud = baud;
    world.changes++;
    return 0;
}

int arch_serial_read(void)
{
    return world.in_at < world.in_size ? (uint8_t)world.in[world.in_at++] : -1;
}

const char *kserial_words(void)
{
    return "the port";
}

static void to_kernel(const char *text, size_t size)
{
    assert_true(world.in_size + size <= sizeof world.in);
    memcpy(world.in + world.in_size, text, size);
    world.in_size += size;
}

void kprintf(const char *format, ...)
{
    const size_t n = strlen(world.said);
    va_list args;
    va_start(args, format);
    vsnprintf(world.said + n, sizeof world.said - n, format, args);
    va_end(args);
    world.said_tsc = world.tsc;
    if (strncmp(world.said + n, LINE_RATE_OFFER, strlen(LINE_RATE_OFFER)) == 0 && world.answers)
        to_kernel(world.answers, strlen(world.answers));
}

void kprint_terminal(const char *text, size_t size)
{
    static const char head[] = "\r\n" LINE_RATE_TEST;
    char pattern[LINE_RATE_PATTERN];
    kline_rate_pattern(pattern);
    assert_int_equal(size, sizeof head - 1 + LINE_RATE_PATTERN + 2);
    assert_memory_equal(text, head, sizeof head - 1);
    assert_memory_equal(text + sizeof head - 1, pattern, sizeof pattern);
    assert_memory_equal(text + size - 2, "\r\n", 2);
    world.tests++;
    to_kernel("\xFF\n", 2); /* what a receiver makes of a change of rates */
    if (world.wrong && world.wrong--)
        pattern[100] ^= 4;
    to_kernel(pattern, sizeof pattern - (world.lost && world.lost-- ? 1 : 0));
    to_kernel("\n", 1);
}

static int begin(void **state)
{
    (void)state;
    memset(&world, 0, sizeof world);
    world.clock = 14745600;
    world.baud = 115200;
    world.tsc = 1000;
    kopt_defaults();
    return 0;
}

static void ask(uint32_t fast)
{
    kfaster_most = fast;
    kfaster_agree(NULL);
}

static void test_not_asked_for(void **state)
{
    (void)state;
    ask(0);
    assert_string_equal(world.said, "");
    world.baud = 0; /* no port */
    ask(921600);
    assert_string_equal(world.said, "");
}

static void test_slow_port(void **state)
{
    (void)state;
    world.clock = ARCH_UART_CLOCK;
    ask(4000000);
    assert_string_equal(world.said, "serial: serial.fast=4000000: the port's clock, 1843200 Hz, gives no rate above "
                                    "115200 and up to 4000000 baud (serial=PORT,BAUD,CLOCK sets another clock)\n");
    assert_true(world.tsc < 10 * MS && world.changes == 0);
}

static void test_offers(void **state)
{
    (void)state;
    static const struct {
        uint32_t clock, fast;
        const char *offer;
    } rows[] = {
        {14745600, 921600, "921600 460800 230400"},
        {14745600, 4000000, "921600 460800 230400"},
        {14745600, 500000, "460800 230400"},
        {24000000, 4000000, "1500000 500000"},
        {64000000, 3000000, "2000000 1000000 576000 500000 230400"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char line[128];
        begin(NULL);
        world.clock = rows[i].clock;
        ask(rows[i].fast);
        snprintf(line, sizeof line, LINE_RATE_OFFER "%s baud?\n", rows[i].offer);
        assert_memory_equal(world.said, line, strlen(line));
    }
}

static void test_nobody(void **state)
{
    (void)state;
    static const char *const noise[] = {NULL, "help\n", "rate\n", "rate x\n", "rate 921600", "rate 99999999999\n"};
    for (size_t i = 0; i < sizeof noise / sizeof noise[0]; i++) {
        begin(NULL);
        world.answers = noise[i];
        const uint64_t began = world.tsc;
        ask(921600);
        assert_non_null(strstr(
            world.said,
            "serial: nobody answers: the rate stays at 115200 baud (cairn capture answers on a serial device)\n"));
        assert_true(world.changes == 0 && world.tests == 0);
        assert_true(world.tsc - began <= (LINE_RATE_ANSWER_MS + 1) * MS);
    }
}

static void test_none_of_these(void **state)
{
    (void)state;
    static const char *const answers[] = {"rate 0\n", "rate 115200\n", "rate 1500000\n", "rate 3000000\n"};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        begin(NULL);
        world.answers = answers[i];
        ask(1500000);
        assert_non_null(
            strstr(world.said, "serial: the other end can do none of these: the rate stays at 115200 baud\n"));
        assert_true(world.changes == 0 && world.baud == 115200);
    }
}

static void test_agreed(void **state)
{
    (void)state;
    for (unsigned bad = 0; bad < LINE_RATE_TESTS; bad++) {
        begin(NULL);
        to_kernel("typed before\nrate 230400\n", 25); /* no answer: it came before the offer */
        world.answers = "what?\nrate 460800\n";
        world.wrong = bad;
        const uint64_t began = world.tsc;
        ask(921600);
        assert_string_equal(world.said, "serial: faster: 921600 460800 230400 baud?\n"
                                        "serial: tries 460800 baud\n"
                                        "serial: the port, as tested\n");
        assert_true(world.baud == 460800 && world.changes == 1 && world.tests == bad + 1);
        assert_true(world.tsc - began >= LINE_RATE_SETTLE_MS * MS);
    }
}

/* The other end has gone back before anything is said. */
static void test_fails(void **state)
{
    (void)state;
    for (unsigned lost = 0; lost <= 1; lost++) {
        begin(NULL);
        world.answers = "rate 921600\n";
        world.wrong = lost ? 0 : LINE_RATE_TESTS;
        world.lost = lost ? LINE_RATE_TESTS : 0;
        const uint64_t began = world.tsc;
        ask(921600);
        assert_string_equal(world.said, "serial: faster: 921600 460800 230400 baud?\n"
                                        "serial: tries 921600 baud\n"
                                        "serial: the test at 921600 baud fails: back at 115200 baud\n");
        assert_true(world.baud == 115200 && world.changes == 2 && world.tests == LINE_RATE_TESTS);
        assert_true(world.said_tsc - began >= LINE_RATE_BACK_MS * MS);
        assert_true(world.said_tsc - began <= (LINE_RATE_BACK_MS + 1) * MS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_not_asked_for, begin), cmocka_unit_test_setup(test_slow_port, begin),
        cmocka_unit_test_setup(test_offers, begin),        cmocka_unit_test_setup(test_nobody, begin),
        cmocka_unit_test_setup(test_none_of_these, begin), cmocka_unit_test_setup(test_agreed, begin),
        cmocka_unit_test_setup(test_fails, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
