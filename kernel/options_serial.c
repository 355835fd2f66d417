/* SPDX-License-Identifier: MIT */
/* The option serial=: which port, and how fast. Also compiled on the host. */
#include "kernel/options_table.h"

#include "kernel/errno.h"
#include "kernel/string.h"

#define STANDARD_BAUD 115200u
#define PORT_MAX      0xFFF8u
#define ADDRESS_MAX   (UINT64_C(1) << 52) /* no processor has more */

static const uint16_t com_ports[] = { 0x3F8, 0x2F8, 0x3E8, 0x2E8 };
_Static_assert(sizeof com_ports / sizeof com_ports[0] == KOPT_COM_PORTS, "COM1 to COM4");

struct arch_uart kopt_com_port(unsigned n)
{
    return (struct arch_uart){ com_ports[n], ARCH_UART_CLOCK, ARCH_UART_IO, 1, 1 };
}

/* The next part before `separator` and what is left of *value; an empty part where nothing is left. */
static void next_part(const char **value, size_t *size, char separator, const char **part, size_t *part_size)
{
    const char *end = memchr(*value, separator, *size);
    *part = *value;
    *part_size = end ? (size_t)(end - *value) : *size;
    *value += *part_size + (end != NULL);
    *size -= *part_size + (end != NULL);
}

static bool begins(const char *s, size_t n, const char *word)
{
    return n >= strlen(word) && memcmp(s, word, strlen(word)) == 0;
}

/* "ADDRESS[:STRIDE[:WIDTH]]" */
static bool parse_memory(const char *s, size_t n, struct arch_uart *uart)
{
    const char *part;
    size_t part_size;
    uint64_t stride = 1, width = 1;
    const bool ends = n && s[n - 1] == ':';
    next_part(&s, &n, ':', &part, &part_size);
    if (ends || !kopt_number(part, part_size, &uart->address))
        return false;
    if (n) {
        next_part(&s, &n, ':', &part, &part_size);
        if (!kopt_number(part, part_size, &stride))
            return false;
        width = stride;
    }
    if (n && !kopt_number(s, n, &width))
        return false;
    if ((stride != 1 && stride != 2 && stride != 4) || (width != 1 && width != 2 && width != 4) || width > stride)
        return false;
    uart->space = ARCH_UART_MEMORY;
    uart->stride = (uint8_t)stride;
    uart->width = (uint8_t)width;
    return uart->address && uart->address % width == 0 && uart->address < ADDRESS_MAX;
}

static bool parse_port(const char *s, size_t n, struct kopt_serial *serial)
{
    uint64_t port;
    serial->kind = KOPT_SERIAL_NONE;
    if (n == 4 && memcmp(s, "none", 4) == 0)
        return true;
    serial->kind = KOPT_SERIAL_PORT;
    if (n == 4 && memcmp(s, "com", 3) == 0 && s[3] >= '1' && s[3] < '1' + (int)KOPT_COM_PORTS) {
        serial->uart = kopt_com_port((unsigned)(s[3] - '1'));
        return true;
    }
    if (begins(s, n, "mmio:"))
        return parse_memory(s + 5, n - 5, &serial->uart);
    if (!kopt_number(s, n, &port) || port == 0 || port > PORT_MAX)
        return false;
    serial->uart = kopt_com_port(0);
    serial->uart.address = port;
    return true;
}

bool kopt_serial_parse(const char *value, size_t size, char *why, size_t why_size)
{
    struct kopt_serial serial = { 0 };
    const char *port, *part;
    size_t port_size, part_size;
    uint64_t baud = STANDARD_BAUD, clock = ARCH_UART_CLOCK;
    uint16_t divisor;
    uint32_t nearest;
    const bool ends = size && value[size - 1] == ',';
    next_part(&value, &size, ',', &port, &port_size);
    if (!parse_port(port, port_size, &serial)) {
        snprintf(why, why_size, "the port is com1 to com4, an I/O address from 0x1 to 0xfff8, mmio:ADDRESS[:STRIDE"
                 "[:WIDTH]] with a distance of registers and an access of 1, 2 or 4 bytes, or none");
        return false;
    }
    if (size) {
        next_part(&value, &size, ',', &part, &part_size);
        if (!kopt_number(part, part_size, &baud) || baud == 0 || baud > UINT32_MAX)
            baud = 0;
    }
    if (size && (!kopt_number(value, size, &clock) || clock == 0 || clock > UINT32_MAX))
        clock = 0;
    if (ends || !baud || !clock) {
        snprintf(why, why_size, "behind the port come the baud rate and, where it is not %u, the frequency of the "
                 "port's clock in Hz", ARCH_UART_CLOCK);
        return false;
    }
    if (arch_uart_divisor((uint32_t)clock, (uint32_t)baud, &divisor, &nearest)) {
        snprintf(why, why_size, "a clock of %lu Hz gives no baud rate within 2.5 %% of that: %u is the nearest",
                 (unsigned long)clock, nearest);
        return false;
    }
    serial.baud = (uint32_t)baud;
    serial.uart.clock = (uint32_t)clock;
    kopt.serial = serial;
    return true;
}

void kopt_serial_show(char *text, size_t size)
{
    const struct kopt_serial *s = &kopt.serial;
    int n = 0;
    if (s->kind == KOPT_SERIAL_NONE) {
        snprintf(text, size, "none");
        return;
    }
    if (s->uart.space == ARCH_UART_MEMORY)
        n = snprintf(text, size, "mmio:0x%lx:%u:%u", (unsigned long)s->uart.address, s->uart.stride, s->uart.width);
    else
        n = snprintf(text, size, "0x%lx", (unsigned long)s->uart.address);
    n += snprintf(text + n, size - (size_t)n, ",%u", s->baud);
    if (s->uart.clock != ARCH_UART_CLOCK)
        snprintf(text + n, size - (size_t)n, ",%u", s->uart.clock);
}
