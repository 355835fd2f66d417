/* SPDX-License-Identifier: MIT */
#include "kernel/console/serial_port.h"

#include "arch/serial.h"
#include "kernel/console/print.h"
#include "kernel/console/sinks.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"

static char where[64], named[48]; /* the port that is taken, and what names it */

bool kserial_take(const struct arch_uart *port, uint32_t baud, const char *who, bool looking)
{
    struct arch_uart uart = *port;
    uint16_t divisor;
    uint32_t nearest = 0;
    if (!uart.clock)
        uart.clock = ARCH_UART_CLOCK;
    arch_uart_show(&uart, where, sizeof where);
    const int e = arch_serial_init(&uart, baud);
    if (!e) {
        kconsole_add(&kprint_serial);
        snprintf(named, sizeof named, "%s", who);
        kprintf("serial: %s\n", kserial_words());
        return true;
    }
    if (e == -ERANGE) {
        arch_uart_divisor(uart.clock, baud, &divisor, &nearest);
        kprintf("serial: %s: %s, but its clock of %u Hz does not give %u baud: %u is the nearest\n", where, who,
                uart.clock, baud, nearest);
        return false;
    }
    if (e != -ENODEV || !looking)
        kprintf("serial: %s: %s, %s\n", where, who,
                e == -EFAULT   ? "but that is no device"
                : e == -ENOMEM ? "but it cannot be mapped"
                               : "but no 16550 answers there");
    return false;
}

bool kserial_take_com(uint32_t clock, uint32_t baud)
{
    static const char *const names[ARCH_UART_COMS] = {"COM1", "COM2", "COM3", "COM4"};
    for (unsigned n = 0; n < ARCH_UART_COMS; n++) {
        struct arch_uart uart = arch_uart_com(n);
        uart.clock = clock ? clock : uart.clock;
        if (kserial_take(&uart, baud, names[n], true))
            return true;
    }
    return false;
}

__attribute__((weak)) void kserial_early(void)
{
}

__attribute__((weak)) void kserial_find(void)
{
    if (!kserial_take_com(0, KSERIAL_BAUD))
        kprintf("serial: no port is there: none of COM1 to COM4\n");
}

__attribute__((weak)) void kserial_last_resort(void)
{
    if (!kserial_there())
        kserial_take_com(0, KSERIAL_BAUD);
}

bool kserial_there(void)
{
    return arch_serial_baud() != 0;
}

const char *kserial_words(void)
{
    static char words[128];
    if (!kserial_there())
        return "none";
    snprintf(words, sizeof words, "%s, %u baud: %s", where, arch_serial_baud(), named);
    return words;
}
