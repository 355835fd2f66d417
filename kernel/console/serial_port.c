/* SPDX-License-Identifier: MIT */
#include "kernel/console/serial_port.h"

#include "arch/arch.h"
#include "arch/serial.h"
#include "kernel/console/print.h"
#include "kernel/console/sinks.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/options/options.h"

static char where[64], named[48]; /* the port that is taken, and what names it */

bool kserial_take(const struct arch_uart *port, uint32_t baud, const char *who, bool looking)
{
    struct arch_uart uart = *port;
    uint16_t divisor;
    uint32_t nearest = 0;
    if (kopt.serial.uart.clock)
        uart.clock = kopt.serial.uart.clock;
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

bool kserial_take_com(void)
{
    static const char *const names[KOPT_COM_PORTS] = {"COM1", "COM2", "COM3", "COM4"};
    const uint32_t baud = kopt.serial.baud ? kopt.serial.baud : KSERIAL_BAUD;
    for (unsigned n = 0; n < KOPT_COM_PORTS; n++) {
        const struct arch_uart uart = kopt_com_port(n);
        if (kserial_take(&uart, baud, names[n], true))
            return true;
    }
    return false;
}

void kserial_early(void)
{
    if (kopt.serial.kind == KOPT_SERIAL_PORT && kopt.serial.uart.space == ARCH_UART_IO)
        kserial_take(&kopt.serial.uart, kopt.serial.baud, "option serial=", false);
}

__attribute__((weak)) void kserial_find(void)
{
    if (kopt.serial.kind == KOPT_SERIAL_AUTO && !kserial_take_com())
        kprintf("serial: no port is there: none of COM1 to COM4\n");
}

void kserial_last_resort(void)
{
    if (kopt.serial.kind == KOPT_SERIAL_AUTO && !kserial_there())
        kserial_take_com();
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
