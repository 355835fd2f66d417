/* SPDX-License-Identifier: MIT */
/* arch/serial.c and arch/firmware/uart.c: chips at I/O ports and in memory, with what real ones lack, and places where
 * none is. */
#include <string.h>

#include "arch/arch.h"
#include "arch/device.h"
#include "arch/internal.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"

#include "arch/serial.h"
#include "arch/uart_registers.h"
#include "tests/unit/fake/processor.h"

/* ---- the chip ---------------------------------------------------------------------------------------------------- */

static struct {
    bool there;
    bool lines, data; /* loopback mode has these */
    bool fifos;
    bool stuck;       /* its transmitter never gets done */
    uint64_t address; /* and where: */
    unsigned stride, width;
    bool in_memory;
    uint8_t ier, lcr, mcr, fcr;
    uint16_t divisor;
    uint8_t received;
    bool ready;         /* a byte came */
    char out[256];      /* what was sent, for all the world to see */
    size_t sent, burst; /* burst: since the last look at LSR */
    uint8_t bus;        /* the last byte on it */
} chip;

static uint64_t mapped, mapped_size;
const struct boot_info *arch_boot_info;

#define MEMORY_END UINT64_C(0x100000000) /* all below is */

bool arch_is_memory(const struct boot_info *info, uint64_t phys, uint64_t size)
{
    assert_ptr_equal(info, arch_boot_info);
    return phys < MEMORY_END && size;
}

static uint8_t chip_get(unsigned reg)
{
    if (chip.lcr & LCR_DLAB && reg <= IER)
        return (uint8_t)(reg == THR ? chip.divisor : chip.divisor >> 8);
    switch (reg) {
    case THR:
        chip.ready = false;
        return chip.received;
    case IER:
        return chip.ier;
    case FCR:
        return chip.fifos && chip.fcr & 1 ? 0xC1 : 0x01;
    case LCR:
        return chip.lcr;
    case MCR:
        return chip.mcr;
    case LSR:
        chip.burst = 0;
        return (uint8_t)((chip.stuck ? 0 : LSR_THRE | LSR_TEMT) | (chip.ready ? LSR_DR : 0));
    case MSR:
        if (!(chip.mcr & MCR_LOOP) || !chip.lines)
            return 0xB0;
        return (uint8_t)((chip.mcr & MCR_OUT2 ? 0x80 : 0) | (chip.mcr & MCR_OUT1 ? 0x40 : 0) |
                         (chip.mcr & MCR_DTR ? 0x20 : 0) | (chip.mcr & MCR_RTS ? 0x10 : 0));
    default:
        return 0;
    }
}

static void chip_put(unsigned reg, uint8_t value)
{
    if (chip.lcr & LCR_DLAB && reg <= IER) {
        chip.divisor =
            reg == THR ? (uint16_t)((chip.divisor & 0xFF00) | value) : (uint16_t)((chip.divisor & 0x00FF) | value << 8);
        return;
    }
    switch (reg) {
    case THR:
        if (chip.mcr & MCR_LOOP) {
            chip.ready |= chip.data;
            chip.received = value;
        } else {
            assert_true(++chip.burst <= (chip.fifos ? 16 : 1)); /* more than that would be lost */
            assert_true(chip.sent < sizeof chip.out);
            chip.out[chip.sent++] = (char)value;
        }
        break;
    case IER:
        chip.ier = value;
        break;
    case FCR:
        chip.fcr = value;
        break;
    case LCR:
        chip.lcr = value;
        break;
    case MCR:
        chip.mcr = value;
    }
}

static bool hits(bool in_memory, uint64_t at, unsigned width, unsigned *reg)
{
    if (!chip.there || chip.in_memory != in_memory || at < chip.address)
        return false;
    assert_int_equal((at - chip.address) % chip.stride, 0);
    assert_int_equal(width, chip.width);
    *reg = (unsigned)((at - chip.address) / chip.stride);
    assert_true(*reg < ARCH_UART_REGISTERS);
    return true;
}

uint8_t arch_in8(uint16_t port)
{
    unsigned reg;
    return hits(false, port, 1, &reg) ? chip_get(reg) : chip.bus;
}

void arch_out8(uint16_t port, uint8_t value)
{
    unsigned reg;
    if (hits(false, port, 1, &reg))
        chip_put(reg, value);
    else if (chip.bus != 0xFF)
        chip.bus = value;
}

void arch_outs8(uint16_t port, const char *data, size_t count)
{
    for (; count; count--)
        arch_out8(port, (uint8_t)*data++);
}

void *arch_map_device(uint64_t phys, size_t size)
{
    if (phys >> 60 || arch_is_memory(NULL, phys, size))
        return NULL;
    mapped = phys;
    mapped_size = size;
    return (void *)(uintptr_t)phys;
}

uint32_t arch_mmio_read(const volatile uint8_t *at, unsigned width)
{
    unsigned reg;
    assert_true((uintptr_t)at + width <= mapped + mapped_size);
    return hits(true, (uintptr_t)at, width, &reg) ? 0xABCD0000 | chip_get(reg) : UINT32_MAX; /* high bytes: anything */
}

void arch_mmio_write(volatile uint8_t *at, unsigned width, uint32_t value)
{
    unsigned reg;
    assert_true((uintptr_t)at + width <= mapped + mapped_size);
    assert_int_equal(value >> 8, 0);
    if (hits(true, (uintptr_t)at, width, &reg))
        chip_put(reg, (uint8_t)value);
}

static uint64_t tsc_hz;

uint64_t arch_tsc_hz(void)
{
    return tsc_hz;
}

static const struct arch_uart com1 = {0x3F8, ARCH_UART_CLOCK, ARCH_UART_IO, 1, 1};

static uint64_t began, dropped; /* before the test */

static int begin(void **state)
{
    (void)state;
    memset(&chip, 0, sizeof chip);
    chip.there = chip.lines = chip.data = chip.fifos = true;
    chip.address = com1.address;
    chip.stride = chip.width = 1;
    chip.bus = 0xFF;
    began = processor.tsc += 1000000; /* after all that was sent */
    dropped = arch_serial_dropped();
    processor.step = 10;
    tsc_hz = 1000000;
    return 0;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void test_io(void **state)
{
    (void)state;
    static const char text[] = "what is longer than a FIFO of sixteen bytes";
    assert_int_equal(arch_serial_init(&com1, 57600), 0);
    assert_int_equal(chip.divisor, 2);
    assert_int_equal(chip.lcr, LCR_8N1);
    assert_int_equal(chip.ier, 0);
    assert_int_equal(chip.mcr, MCR_DTR | MCR_RTS); /* out of loopback mode */
    assert_int_equal(chip.sent, 0);                /* and the test was heard by nobody */
    assert_int_equal(arch_serial_baud(), 57600);
    assert_int_equal(arch_serial_ready(), 16);
    arch_serial_write(text, sizeof text - 1);
    assert_int_equal(chip.sent, sizeof text - 1);
    assert_memory_equal(chip.out, text, sizeof text - 1);
    assert_in_range(arch_serial_due() - began, (sizeof text - 1) * 10 * 1000000 / 57600 - 50, 20000);
    assert_int_equal(arch_serial_dropped() - dropped, 0);
}

/* Another rate, where the clock gives it; else nothing changes. */
static void test_set_baud(void **state)
{
    (void)state;
    struct arch_uart fast = com1;
    fast.clock = 14745600;
    assert_int_equal(arch_serial_init(&fast, 115200), 0);
    assert_int_equal(chip.divisor, 8);
    assert_int_equal(arch_serial_clock(), 14745600);
    assert_int_equal(arch_serial_set_baud(921600), 0);
    assert_int_equal(chip.divisor, 1);
    assert_int_equal(chip.lcr, LCR_8N1);
    assert_int_equal(arch_serial_baud(), 921600);
    const uint64_t now = processor.tsc;
    arch_serial_write("0123456789", 10);
    assert_in_range(arch_serial_due() - now, 10 * 10 * 1000000 / 921600 - 50, 1000);
    assert_int_equal(arch_serial_set_baud(1500000), -ERANGE);
    assert_int_equal(arch_serial_baud(), 921600);
    assert_int_equal(chip.divisor, 1);
    assert_int_equal(arch_serial_set_baud(115200), 0);
    assert_int_equal(chip.divisor, 8);
    chip.there = false;
    assert_int_equal(arch_serial_init(&com1, 115200), -ENODEV);
    assert_int_equal(arch_serial_set_baud(57600), -ERANGE);
    assert_int_equal(arch_serial_clock(), 0);
}

static void test_memory(void **state)
{
    (void)state;
    static const struct {
        uint8_t stride, width;
    } ways[] = {{1, 1}, {2, 1}, {2, 2}, {4, 1}, {4, 2}, {4, 4}};
    for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        begin(NULL);
        chip.in_memory = true;
        chip.address = 0x1FE034000;
        chip.stride = ways[i].stride;
        chip.width = ways[i].width;
        const struct arch_uart u = {chip.address, 48000000, ARCH_UART_MEMORY, ways[i].stride, ways[i].width};
        assert_int_equal(arch_serial_init(&u, 115200), 0);
        assert_int_equal(mapped, chip.address);
        assert_int_equal(mapped_size, 7 * ways[i].stride + ways[i].width);
        assert_int_equal(chip.divisor, 26); /* 26.04 */
        assert_int_equal(arch_serial_baud(), 115385);
        arch_serial_write("0123456789abcdefg", 17);
        assert_int_equal(chip.sent, 17);
        assert_memory_equal(chip.out, "0123456789abcdefg", 17);
    }
}

static void test_cannot_be_mapped(void **state)
{
    (void)state;
    struct arch_uart u = {UINT64_C(1) << 60, ARCH_UART_CLOCK, ARCH_UART_MEMORY, 4, 4};
    assert_int_equal(arch_serial_init(&u, 115200), -ENOMEM);
    mapped = 0;
    u.address = MEMORY_END - 32; /* its last byte is */
    assert_int_equal(arch_serial_init(&u, 115200), -EFAULT);
    assert_int_equal(mapped, 0);
    assert_int_equal(arch_serial_baud(), 0);
}

/* A chip of the seventies, or one that a management controller plays. */
static void test_chips_that_lack_something(void **state)
{
    (void)state;
    chip.fifos = false;
    assert_int_equal(arch_serial_init(&com1, 115200), 0);
    assert_int_equal(arch_serial_ready(), 1);
    arch_serial_write("abc", 3);
    assert_memory_equal(chip.out, "abc", 3);

    begin(NULL);
    chip.data = false;
    assert_int_equal(arch_serial_init(&com1, 115200), 0);

    begin(NULL);
    chip.lines = false;
    assert_int_equal(arch_serial_init(&com1, 115200), 0);
    assert_int_equal(chip.mcr, MCR_DTR | MCR_RTS);
    assert_int_equal(chip.sent, 0);
}

static void test_none_there(void **state)
{
    (void)state;
    for (unsigned calibrated = 0; calibrated <= 1; calibrated++)
        for (unsigned what = 0; what < 4; what++) {
            begin(NULL);
            tsc_hz = calibrated ? 1000000 : 0;
            chip.there = what == 3; /* 3: a chip that loops nothing */
            chip.lines = chip.data = false;
            chip.bus = what == 0 ? 0xFF : what == 1 ? 0x00 : 0x90; /* 1, 2: what was last on the bus */
            assert_int_equal(arch_serial_init(&com1, 115200), -ENODEV);
            assert_int_equal(arch_serial_baud(), 0);
            assert_int_equal(arch_serial_ready(), 0);
            arch_serial_write("lost", 4);
            assert_int_equal(arch_serial_dropped() - dropped, 4);
            arch_serial_drain();
            assert_int_equal(chip.sent, 0);
        }
}

/* One that does not get done is waited for once, and works again when it does. */
static void test_stuck(void **state)
{
    (void)state;
    assert_int_equal(arch_serial_init(&com1, 115200), 0);
    chip.stuck = true;
    arch_serial_write("abc", 3);
    uint64_t waited = processor.tsc;
    assert_true(waited >= 2000000); /* two seconds */
    arch_serial_write("defg", 4);
    assert_true(processor.tsc - waited < 1000);
    assert_int_equal(arch_serial_dropped() - dropped, 7);
    chip.stuck = false;
    arch_serial_write("hi", 2);
    assert_int_equal(chip.sent, 2);
    assert_int_equal(arch_serial_dropped() - dropped, 7);
}

static void test_rate_that_is_set(void **state)
{
    (void)state;
    chip.divisor = 12;
    assert_int_equal(arch_serial_init(&com1, 0), 0);
    assert_int_equal(chip.divisor, 12);
    assert_int_equal(chip.lcr, LCR_8N1);
    assert_int_equal(arch_serial_baud(), 9600);
    chip.divisor = 0; /* no rate at all */
    assert_int_equal(arch_serial_init(&com1, 0), 0);
    assert_int_equal(arch_serial_baud(), 115200);
}

static void test_rate_that_cannot_be(void **state)
{
    (void)state;
    chip.divisor = 12;
    assert_int_equal(arch_serial_init(&com1, 100000), -ERANGE);
    assert_int_equal(chip.divisor, 12); /* not touched */
    assert_int_equal(arch_serial_baud(), 0);
}

static void test_divisors(void **state)
{
    (void)state;
    static const struct {
        uint32_t clock, baud;
        int error;
        uint16_t divisor;
        uint32_t rate;
    } cases[] = {
        {1843200, 115200, 0, 1, 115200},
        {1843200, 9600, 0, 12, 9600},
        {1843200, 7, 0, 16457, 7},
        {1843200, 2, 0, 57600, 2},
        {1843200, 1, -ERANGE, 65535, 2},
        {1843200, 0, -ERANGE, 65535, 2},
        {1843200, 118080, 0, 1, 115200},
        {1843200, 118200, -ERANGE, 1, 115200}, /* 115200 is 2.44, 2.54 % less */
        {1843200, 112400, 0, 1, 115200},
        {1843200, 112300, -ERANGE, 1, 115200}, /* 2.49, 2.58 % more */
        {1843200, 230400, -ERANGE, 1, 115200},
        {1843200, 100000, -ERANGE, 1, 115200},
        {1843200, 56000, -ERANGE, 2, 57600},
        {1843200, 31250, -ERANGE, 4, 28800},
        {1843200, UINT32_MAX, -ERANGE, 1, 115200},
        {48000000, 115200, 0, 26, 115385},
        {48000000, 3000000, 0, 1, 3000000},
        {14745600, 921600, 0, 1, 921600},
        {UINT32_MAX, 115200, 0, 2330, 115208},
        {UINT32_MAX, UINT32_MAX, -ERANGE, 1, 268435456},
        {16, 1, 0, 1, 1},
        {15, 1, -ERANGE, 1, 1},
        {1, 1, -ERANGE, 1, 0},
        {0, 115200, -ERANGE, 1, 0},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint16_t divisor;
        uint32_t nearest;
        assert_int_equal(arch_uart_divisor(cases[i].clock, cases[i].baud, &divisor, &nearest), cases[i].error);
        assert_int_equal(divisor, cases[i].divisor);
        assert_int_equal(nearest, cases[i].rate);
    }
}

static void test_words(void **state)
{
    (void)state;
    static const struct {
        struct arch_uart uart;
        const char *text;
    } cases[] = {
        {{0x2F8, 0, ARCH_UART_IO, 1, 1}, "I/O port 0x2f8"},
        {{0xFE034000, 0, ARCH_UART_MEMORY, 4, 4}, "memory at 0xfe034000, a register each 4 bytes"},
        {{0xFE034000, 0, ARCH_UART_MEMORY, 1, 1}, "memory at 0xfe034000"},
        {{0, 0, ARCH_UART_NONE, 0, 0}, "none"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64];
        arch_uart_show(&cases[i].uart, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_io, begin),
        cmocka_unit_test_setup(test_set_baud, begin),
        cmocka_unit_test_setup(test_memory, begin),
        cmocka_unit_test_setup(test_cannot_be_mapped, begin),
        cmocka_unit_test_setup(test_chips_that_lack_something, begin),
        cmocka_unit_test_setup(test_none_there, begin),
        cmocka_unit_test_setup(test_stuck, begin),
        cmocka_unit_test_setup(test_rate_that_is_set, begin),
        cmocka_unit_test_setup(test_rate_that_cannot_be, begin),
        cmocka_unit_test(test_divisors),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
