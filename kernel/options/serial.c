/* SPDX-License-Identifier: MIT */
/* The option serial=: which port, and how fast. Also compiled on the host. */
#include "kernel/options/row.h"

#include "kernel/lib/number.h"
#include "kernel/lib/string.h"

#define STANDARD_BAUD 115200u
#define PORT_MAX      0xFFF8u

struct arch_uart kopt_com_port(unsigned n)
{
    static const uint16_t ports[KOPT_COM_PORTS] = {0x3F8, 0x2F8, 0x3E8, 0x2E8};
    return (struct arch_uart){ports[n], ARCH_UART_CLOCK, ARCH_UART_IO, 1, 1};
}

__attribute__((weak)) const char kopt_serial_text[] =
    "PORT of console and dump: auto (the first of COM1 to COM4), com1 to com4, an I/O port (0x3f8), or none; BAUD: the "
    "rate (115200), set as near as the clock allows; CLOCK: the port's clock in Hz (1843200)";
__attribute__((weak)) const char kopt_serial_more[] = "";

__attribute__((weak)) bool kopt_serial_parse_more(const char *port, size_t size, struct kopt_serial *serial)
{
    (void)port, (void)size, (void)serial;
    return false;
}

__attribute__((weak)) bool kopt_serial_show_more(char *text, size_t size)
{
    (void)text, (void)size;
    return false;
}

static bool parse_port(const char *s, size_t n, struct kopt_serial *serial)
{
    enum { NONE, AUTO, COM };
    uint64_t port;
    const int word = kopt_word_index("none|auto|com1|com2|com3|com4", s, n);
    serial->kind = word == NONE ? KOPT_SERIAL_NONE : word == AUTO ? KOPT_SERIAL_AUTO : KOPT_SERIAL_PORT;
    if (word == NONE || word == AUTO)
        return true;
    struct kopt_serial more = *serial;
    if (kopt_serial_parse_more(s, n, &more)) {
        *serial = more;
        return true;
    }
    serial->uart = kopt_com_port(word >= COM ? (unsigned)(word - COM) : 0);
    if (word >= COM)
        return true;
    if (!knumber_parse(s, n, &port) || port == 0 || port > PORT_MAX)
        return false;
    serial->uart.address = port;
    return true;
}

static bool parse(void *field, const char *value, size_t size, char *why, size_t why_size)
{
    struct kopt_serial serial = {0};
    const char *port;
    size_t port_size;
    uint64_t baud = 0, clock = 0;
    uint32_t nearest;
    uint16_t divisor;
    kopt_part(&value, &size, ',', &port, &port_size);
    if (!parse_port(port, port_size, &serial)) {
        snprintf(why, why_size, "the port is auto, com1 to com4, an I/O address from 0x1 to 0xfff8, %sor none",
                 kopt_serial_more);
        return false;
    }
    if (!kopt_part_number(&value, &size, ',', 1, UINT32_MAX, &baud) ||
        !kopt_part_number(&value, &size, ',', 1, UINT32_MAX, &clock) || value) {
        snprintf(why, why_size,
                 "behind the port come the baud rate and, where it is not %u, the frequency of the "
                 "port's clock in Hz",
                 ARCH_UART_CLOCK);
        return false;
    }
    if (clock)
        serial.uart.clock = (uint32_t)clock;
    clock = serial.uart.clock ? serial.uart.clock : ARCH_UART_CLOCK;
    serial.baud = baud ? (uint32_t)baud : serial.kind == KOPT_SERIAL_AUTO ? 0 : STANDARD_BAUD;
    if (serial.baud && arch_uart_divisor((uint32_t)clock, serial.baud, &divisor, &nearest)) {
        snprintf(why, why_size, "a clock of %lu Hz gives no baud rate within 2.5 %% of that: %u is the nearest",
                 (unsigned long)clock, nearest);
        return false;
    }
    *(struct kopt_serial *)field = serial;
    return true;
}

static void show(const void *field, char *text, size_t size)
{
    const struct kopt_serial *s = field;
    char port[40] = "auto";
    if (!kopt_serial_show_more(port, sizeof port) && s->kind == KOPT_SERIAL_PORT)
        snprintf(port, sizeof port, "0x%lx", (unsigned long)s->uart.address);
    if (s->kind == KOPT_SERIAL_NONE)
        snprintf(text, size, "none");
    else if (s->uart.clock && s->uart.clock != ARCH_UART_CLOCK)
        snprintf(text, size, "%s,%u,%u", port, s->baud, s->uart.clock);
    else if (s->baud)
        snprintf(text, size, "%s,%u", port, s->baud);
    else
        snprintf(text, size, "%s", port);
}

const struct kopt_form kopt_serial_form = {"PORT[,BAUD[,CLOCK]]", parse, show};
