/* SPDX-License-Identifier: MIT */
/* The option serial=: which port, and how fast. Also compiled on the host. */
#include "kernel/options/row.h"

#include "kernel/lib/number.h"
#include "kernel/lib/string.h"

#define STANDARD_BAUD 115200u
#define PORT_MAX      0xFFF8u
#define ADDRESS_MAX   (UINT64_C(1) << 52) /* no processor has more */

static const uint16_t com_ports[] = {0x3F8, 0x2F8, 0x3E8, 0x2E8};
_Static_assert(sizeof com_ports / sizeof com_ports[0] == KOPT_COM_PORTS, "COM1 to COM4");

struct arch_uart kopt_com_port(unsigned n)
{
    return (struct arch_uart){com_ports[n], ARCH_UART_CLOCK, ARCH_UART_IO, 1, 1};
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
    if (ends || !knumber_parse(part, part_size, &uart->address))
        return false;
    if (n) {
        next_part(&s, &n, ':', &part, &part_size);
        if (!knumber_parse(part, part_size, &stride))
            return false;
        width = stride;
    }
    if (n && !knumber_parse(s, n, &width))
        return false;
    if ((stride != 1 && stride != 2 && stride != 4) || (width != 1 && width != 2 && width != 4) || width > stride)
        return false;
    uart->space = ARCH_UART_MEMORY;
    uart->stride = (uint8_t)stride;
    uart->width = (uint8_t)width;
    return uart->address && uart->address % width == 0 && uart->address < ADDRESS_MAX;
}

/* Hexadecimal without 0x, as lspci writes its numbers. */
static bool parse_hex(const char *s, size_t n, uint64_t most, uint64_t *out)
{
    char text[8] = "0x";
    if (!n || n > 4)
        return false;
    memcpy(text + 2, s, n);
    return knumber_parse(text, n + 2, out) && *out <= most;
}

/* "BUS:DEVICE.FUNCTION" */
static bool parse_function(const char *s, size_t n, uint16_t *out)
{
    const char *part;
    size_t part_size;
    uint64_t bus, device, function;
    next_part(&s, &n, ':', &part, &part_size);
    if (!parse_hex(part, part_size, 255, &bus))
        return false;
    next_part(&s, &n, '.', &part, &part_size);
    if (!parse_hex(part, part_size, 31, &device) || !parse_hex(s, n, 7, &function))
        return false;
    *out = (uint16_t)(bus << 8 | device << 3 | function);
    return true;
}

static bool parse_port(const char *s, size_t n, struct kopt_serial *serial)
{
    uint64_t port;
    if (n == 4 && memcmp(s, "none", 4) == 0)
        return true;
    serial->kind = KOPT_SERIAL_AUTO;
    if (n == 4 && memcmp(s, "auto", 4) == 0)
        return true;
    serial->kind = KOPT_SERIAL_PCI;
    if (n == 3 && memcmp(s, "pci", 3) == 0)
        return true;
    serial->kind = KOPT_SERIAL_PCI_FUNCTION;
    if (begins(s, n, "pci:"))
        return parse_function(s + 4, n - 4, &serial->function);
    serial->kind = KOPT_SERIAL_PORT;
    if (n == 4 && memcmp(s, "com", 3) == 0 && s[3] >= '1' && s[3] < '1' + (int)KOPT_COM_PORTS) {
        serial->uart = kopt_com_port((unsigned)(s[3] - '1'));
        return true;
    }
    if (begins(s, n, "mmio:"))
        return parse_memory(s + 5, n - 5, &serial->uart);
    if (!knumber_parse(s, n, &port) || port == 0 || port > PORT_MAX)
        return false;
    serial->uart = kopt_com_port(0);
    serial->uart.address = port;
    return true;
}

bool kopt_serial_parse(const char *value, size_t size, char *why, size_t why_size)
{
    struct kopt_serial serial = {0};
    const char *port, *part;
    size_t port_size, part_size;
    uint64_t baud, clock;
    uint16_t divisor;
    uint32_t nearest;
    bool has_baud, has_clock, right = true;
    const bool ends = size && value[size - 1] == ',';
    next_part(&value, &size, ',', &port, &port_size);
    if (!parse_port(port, port_size, &serial)) {
        snprintf(why, why_size,
                 "the port is auto, com1 to com4, an I/O address from 0x1 to 0xfff8, mmio:ADDRESS"
                 "[:STRIDE[:WIDTH]] with 1, 2 or 4 bytes from register to register and of an access, "
                 "pci[:BUS:DEVICE.FUNCTION] as lspci writes it, or none");
        return false;
    }
    if ((has_baud = size)) {
        next_part(&value, &size, ',', &part, &part_size);
        right = knumber_parse(part, part_size, &baud) && baud && baud <= UINT32_MAX;
    }
    if ((has_clock = size))
        right &= knumber_parse(value, size, &clock) && clock && clock <= UINT32_MAX;
    if (ends || !right) {
        snprintf(why, why_size,
                 "behind the port come the baud rate and, where it is not %u, the frequency of the "
                 "port's clock in Hz",
                 ARCH_UART_CLOCK);
        return false;
    }
    if (has_clock || serial.kind == KOPT_SERIAL_PORT)
        serial.uart.clock = has_clock ? (uint32_t)clock : ARCH_UART_CLOCK;
    clock = serial.uart.clock ? serial.uart.clock : ARCH_UART_CLOCK;
    if (has_baud || serial.kind != KOPT_SERIAL_AUTO)
        serial.baud = has_baud ? (uint32_t)baud : STANDARD_BAUD;
    if (serial.baud && arch_uart_divisor((uint32_t)clock, serial.baud, &divisor, &nearest)) {
        snprintf(why, why_size, "a clock of %lu Hz gives no baud rate within 2.5 %% of that: %u is the nearest",
                 (unsigned long)clock, nearest);
        return false;
    }
    kopt.serial = serial;
    return true;
}

void kopt_serial_show(char *text, size_t size)
{
    const struct kopt_serial *s = &kopt.serial;
    int n = 0;
    switch (s->kind) {
    case KOPT_SERIAL_NONE:
        snprintf(text, size, "none");
        return;
    case KOPT_SERIAL_AUTO:
        n = snprintf(text, size, "auto");
        break;
    case KOPT_SERIAL_PCI:
        n = snprintf(text, size, "pci");
        break;
    case KOPT_SERIAL_PCI_FUNCTION:
        n = snprintf(text, size, "pci:%02x:%02x.%x", s->function >> 8, s->function >> 3 & 31u, s->function & 7u);
        break;
    default:
        if (s->uart.space == ARCH_UART_MEMORY)
            n = snprintf(text, size, "mmio:0x%lx:%u:%u", (unsigned long)s->uart.address, s->uart.stride, s->uart.width);
        else
            n = snprintf(text, size, "0x%lx", (unsigned long)s->uart.address);
    }
    if (s->baud)
        n += snprintf(text + n, size - (size_t)n, ",%u", s->baud);
    if (s->uart.clock && s->uart.clock != ARCH_UART_CLOCK)
        snprintf(text + n, size - (size_t)n, ",%u", s->uart.clock);
}
