/* SPDX-License-Identifier: MIT */
/* 16550 UART, polled. National Semiconductor PC16550D datasheet. */
#include "arch/arch.h"
#include "kernel/errno.h"

#define THR 0u /* write; read: RBR; with DLAB: DLL */
#define IER 1u /* with DLAB: DLM */
#define FCR 2u /* write; read: IIR */
#define   FCR_ENABLE_AND_CLEAR 0x07u
#define   IIR_FIFO_MASK        0xC0u /* both set: the FIFOs work (16550A and later) */
#define LCR 3u
#define   LCR_8N1  0x03u
#define   LCR_DLAB 0x80u
#define MCR 4u
#define   MCR_DTR_RTS 0x03u
#define   MCR_LOOP    0x10u
#define LSR 5u
#define   LSR_DR   0x01u
#define   LSR_THRE 0x20u /* with FIFOs: the transmit FIFO is empty */
#define   LSR_TEMT 0x40u /* and the last bit is on the wire */

#define FIFO_SIZE 16u
#define BAUD_MAX  115200u /* 1.8432 MHz / 16 */

/* How long a wait may last: what a full FIFO takes, twice, and a while for an emulator whose reader is slow. Before
 * the TSC frequency is known LSR reads are counted, at 0.1 us (emulated) to 1 us (a real port) each. */
#define PATIENCE_MS    2000u
#define PATIENCE_POLLS 2000000u
#define BITS_A_BYTE    10u

static uint16_t base;  /* 0: no UART */
static unsigned fifo;  /* bytes that may be sent when THRE is set */
static uint32_t rate; /* baud */
static uint64_t due;  /* TSC: arch_serial_due */
static uint32_t patience_ms;
static bool stuck;     /* the last wait ran out: look once instead of waiting until THRE comes back */
static uint64_t dropped;

static inline void outsb(uint16_t port, const char *data, size_t count)
{
    __asm__ volatile("rep outsb" : "+S"(data), "+c"(count) : "d"(port) : "memory");
}

static bool wait_lsr(uint16_t port, uint8_t bit)
{
    uint64_t ticks = arch_tsc_hz() / 1000 * patience_ms;
    uint64_t begin = arch_rdtsc();

    for (uint32_t poll = 0;; poll++) {
        if (arch_in8(port + LSR) & bit)
            return true;
        if (ticks ? arch_rdtsc() - begin > ticks : poll >= PATIENCE_POLLS)
            return false;
        arch_pause();
    }
}

/* Sends a few bytes to itself inside the chip, which is in loopback mode. An absent UART reads as all ones, or as the
 * last byte on the bus. */
static bool loopback_works(uint16_t port)
{
    static const uint8_t pattern[] = {0xAE, 0x51, 0x00, 0xFF};
    bool works = true;

    for (size_t i = 0; i < sizeof(pattern) && works; i++) {
        arch_out8(port + THR, pattern[i]);
        works = wait_lsr(port, LSR_DR) && arch_in8(port + THR) == pattern[i];
    }
    return works;
}

int arch_serial_init(uint16_t port, uint32_t baud)
{
    base = 0;
    if (!port)
        return 0;
    if (!baud || baud > BAUD_MAX || BAUD_MAX % baud)
        return -EINVAL;

    uint32_t divisor = BAUD_MAX / baud;
    if (divisor > UINT16_MAX)
        return -EINVAL;
    patience_ms = PATIENCE_MS + 2 * FIFO_SIZE * BITS_A_BYTE * 1000 / baud;
    arch_out8(port + IER, 0);
    arch_out8(port + LCR, LCR_DLAB);
    arch_out8(port + THR, (uint8_t)divisor);
    arch_out8(port + IER, (uint8_t)(divisor >> 8));
    arch_out8(port + LCR, LCR_8N1);
    arch_out8(port + MCR, MCR_LOOP | MCR_DTR_RTS); /* the line brings nothing that could be taken for ours */
    arch_out8(port + FCR, FCR_ENABLE_AND_CLEAR);
    fifo = (arch_in8(port + FCR) & IIR_FIFO_MASK) == IIR_FIFO_MASK ? FIFO_SIZE : 1;
    bool works = loopback_works(port);
    arch_out8(port + MCR, MCR_DTR_RTS);
    if (!works)
        return -ENODEV;
    stuck = false;
    base = port;
    rate = baud;
    return 0;
}

/* `count` more characters follow those that are still on the line. */
static void note_sent(size_t count)
{
    uint64_t now = arch_rdtsc(), character = arch_tsc_hz() * BITS_A_BYTE / rate;
    due = (due > now ? due : now) + count * character;
}

void arch_serial_write(const char *data, size_t size)
{
    while (size) {
        size_t count = size < fifo ? size : fifo;
        if (!base) {
            dropped += size;
            return;
        }
        if (stuck ? !(arch_in8(base + LSR) & LSR_THRE) : !wait_lsr(base, LSR_THRE)) {
            stuck = true;
            dropped += size;
            return;
        }
        stuck = false;
        outsb(base + THR, data, count);
        note_sent(count);
        data += count;
        size -= count;
    }
}

size_t arch_serial_ready(void)
{
    return base && arch_in8(base + LSR) & LSR_THRE ? fifo : 0;
}

uint64_t arch_serial_due(void)
{
    return due;
}

void arch_serial_drain(void)
{
    if (base)
        (void)wait_lsr(base, LSR_TEMT);
}

uint64_t arch_serial_dropped(void)
{
    return dropped;
}
