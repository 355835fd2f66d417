/* SPDX-License-Identifier: MIT */
/* A 16550 UART, polled, with its registers at I/O ports or in memory. National Semiconductor PC16550D datasheet. */
#include "arch/serial.h"
#include "arch/arch.h"
#include "arch/uart_registers.h"
#include "kernel/lib/errno.h"

#define FIFO_SIZE 16u

/* How long a wait may last: what a full FIFO takes, twice, and a while for an emulator whose reader is slow. Before
 * the TSC frequency is known LSR reads are counted, at 0.1 us (emulated) to 1 us (a real port) each. */
#define PATIENCE_MS    2000u
#define PATIENCE_POLLS 2000000u
#define BITS_A_BYTE    10u

static struct arch_uart uart; /* the one in use, or tried */
static bool there;
static unsigned fifo; /* bytes that may be sent when THRE is set */
static uint32_t rate; /* baud */
static uint64_t due;  /* arch_serial_due */
static uint32_t patience_ms;
static bool stuck; /* the last wait ran out: look once instead of waiting until THRE comes back */
static uint64_t dropped;

static uint8_t get(unsigned reg)
{
    if (uart.space == ARCH_UART_IO)
        return arch_in8((uint16_t)(uart.address + reg * uart.stride));
    return arch_uart_memory_get(&uart, reg);
}

static void put(unsigned reg, uint8_t value)
{
    if (uart.space == ARCH_UART_IO)
        arch_out8((uint16_t)(uart.address + reg * uart.stride), value);
    else
        arch_uart_memory_put(&uart, reg, value);
}

static void put_each(const char *data, size_t count)
{
    if (uart.space == ARCH_UART_IO)
        arch_outs8((uint16_t)uart.address, data, count);
    else
        for (; count; count--)
            put(THR, (uint8_t)*data++);
}

static bool wait_lsr(uint8_t bit)
{
    uint64_t ticks = arch_tsc_hz() / 1000 * patience_ms;
    uint64_t begin = arch_rdtsc();

    for (uint32_t poll = 0;; poll++) {
        if (get(LSR) & bit)
            return true;
        if (ticks ? arch_rdtsc() - begin > ticks : poll >= PATIENCE_POLLS)
            return false;
        arch_pause();
    }
}

/* In loopback mode nothing leaves the chip: its four outputs are its four inputs. This is what systems have looked for
 * ports by for long, so that those which a management controller plays have it, too. An absent UART reads as all ones,
 * or as the last byte on the bus. */
static bool lines_loop(void)
{
    put(MCR, MCR_LOOP | MCR_OUT2 | MCR_RTS);
    if ((get(MSR) & MSR_LINES) != (MSR_DCD | MSR_CTS))
        return false;
    put(MCR, MCR_LOOP | MCR_OUT1 | MCR_DTR);
    return (get(MSR) & MSR_LINES) == (MSR_RI | MSR_DSR);
}

/* Likewise, a few bytes that it sends to itself: for those which have this only. */
static bool data_loops(void)
{
    static const uint8_t pattern[] = {0xAE, 0x51, 0x00, 0xFF};
    bool works = true;

    put(MCR, MCR_LOOP | MCR_DTR | MCR_RTS); /* the line brings nothing that could be taken for ours */
    for (size_t i = 0; i < sizeof(pattern) && works; i++) {
        put(THR, pattern[i]);
        works = wait_lsr(LSR_DR) && get(THR) == pattern[i];
    }
    return works;
}

/* 8 bits, no parity, one stop bit, at `rate`; `divisor` 0: the one that is set, which becomes the rate. */
static void set_line(uint16_t divisor)
{
    put(IER, 0);
    put(LCR, LCR_DLAB);
    if (divisor) {
        put(THR, (uint8_t)divisor);
        put(IER, (uint8_t)(divisor >> 8));
    } else {
        divisor = (uint16_t)(get(THR) | get(IER) << 8);
        rate = uart.clock / 16 / (divisor ? divisor : 1);
        rate = rate ? rate : 1;
    }
    put(LCR, LCR_8N1);
    patience_ms = PATIENCE_MS + 2 * FIFO_SIZE * BITS_A_BYTE * 1000 / rate;
}

int arch_serial_init(const struct arch_uart *which, uint32_t baud)
{
    uint16_t divisor = 0;

    there = false;
    uart = *which;
    if (baud && arch_uart_divisor(uart.clock, baud, &divisor, &rate))
        return -ERANGE;
    if (uart.space == ARCH_UART_MEMORY) {
        const int error = arch_uart_memory_map(&uart);
        if (error)
            return error;
    }
    set_line(divisor);
    put(FCR, FCR_ENABLE_AND_CLEAR);
    fifo = (get(FCR) & IIR_FIFO_MASK) == IIR_FIFO_MASK ? FIFO_SIZE : 1;
    bool works = lines_loop() || data_loops();
    put(MCR, MCR_DTR | MCR_RTS);
    if (!works)
        return -ENODEV;
    put(FCR, FCR_ENABLE_AND_CLEAR);
    stuck = false;
    there = true;
    return 0;
}

uint32_t arch_serial_baud(void)
{
    return there ? rate : 0;
}

uint32_t arch_serial_clock(void)
{
    return there ? uart.clock : 0;
}

int arch_serial_set_baud(uint32_t baud)
{
    uint16_t divisor;
    uint32_t nearest;
    if (!there || arch_uart_divisor(uart.clock, baud, &divisor, &nearest))
        return -ERANGE;
    arch_serial_drain();
    rate = nearest;
    set_line(divisor);
    due = arch_tsc_common();
    return 0;
}

/* `count` more characters follow those that are still on the line. */
static void note_sent(size_t count)
{
    uint64_t now = arch_tsc_common(), character = arch_tsc_hz() * BITS_A_BYTE / rate;
    due = (due > now ? due : now) + count * character;
}

void arch_serial_write(const char *data, size_t size)
{
    while (size) {
        size_t count = size < fifo ? size : fifo;
        if (!there) {
            dropped += size;
            return;
        }
        if (stuck ? !(get(LSR) & LSR_THRE) : !wait_lsr(LSR_THRE)) {
            stuck = true;
            dropped += size;
            return;
        }
        stuck = false;
        put_each(data, count);
        note_sent(count);
        data += count;
        size -= count;
    }
}

size_t arch_serial_ready(void)
{
    return there && get(LSR) & LSR_THRE ? fifo : 0;
}

int arch_serial_read(void)
{
    const uint8_t status = there ? get(LSR) : 0;
    return status & LSR_DR && status != 0xFF ? get(THR) : -1; /* all ones: nothing answers any more */
}

uint64_t arch_serial_due(void)
{
    return due;
}

void arch_serial_drain(void)
{
    if (there)
        (void)wait_lsr(LSR_TEMT);
}

uint64_t arch_serial_dropped(void)
{
    return dropped;
}
