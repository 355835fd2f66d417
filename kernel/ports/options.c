/* SPDX-License-Identifier: MIT */
/* The option serial=: which port, and how fast. Also compiled on the host. */
#include "kernel/ports/options.h"

#include "kernel/console/serial_port.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "kernel/options/row.h"

#define ADDRESS_MAX (UINT64_C(1) << 52) /* no processor has more */
#define PORT_MAX    0xFFF8u

struct kports_option kports_option;

/* "ADDRESS[:STRIDE[:WIDTH]]" */
static bool parse_memory(const char *s, size_t n, struct arch_uart *uart)
{
    uint64_t address = 0, stride = 1, width;
    if (!kopt_part_number(&s, &n, ':', 1, ADDRESS_MAX - 1, &address) || !kopt_part_number(&s, &n, ':', 1, 4, &stride))
        return false;
    width = stride;
    if (!kopt_part_number(&s, &n, ':', 1, stride, &width) || s || stride == 3 || width == 3)
        return false;
    *uart = (struct arch_uart){address, ARCH_UART_CLOCK, ARCH_UART_MEMORY, (uint8_t)stride, (uint8_t)width};
    return address % width == 0;
}

/* The next part in hexadecimal without 0x, as lspci writes its numbers. */
static bool parse_hex(const char **value, size_t *size, char separator, uint64_t most, uint64_t *out)
{
    char text[8] = "0x";
    const char *part;
    size_t n;
    if (!kopt_part(value, size, separator, &part, &n) || !n || n > 4)
        return false;
    memcpy(text + 2, part, n);
    return knumber_parse(text, n + 2, out) && *out <= most;
}

/* "BUS:DEVICE.FUNCTION" */
static bool parse_function(const char *s, size_t n, uint16_t *out)
{
    uint64_t bus, device, function;
    if (!parse_hex(&s, &n, ':', 255, &bus) || !parse_hex(&s, &n, '.', 31, &device) ||
        !parse_hex(&s, &n, '.', 7, &function) || s)
        return false;
    *out = (uint16_t)(bus << 8 | device << 3 | function);
    return true;
}

static bool parse_port(const char *s, size_t n, struct kports_option *serial)
{
    enum { NONE, AUTO, PCI, COM };
    uint64_t port;
    const int word = kopt_word_index("none|auto|pci|com1|com2|com3|com4", s, n);
    serial->kind = word == NONE ? KPORTS_NONE : word == AUTO ? KPORTS_AUTO : word == PCI ? KPORTS_PCI : KPORTS_PORT;
    if (word >= COM)
        serial->uart = arch_uart_com((unsigned)(word - COM));
    if (word >= 0)
        return true;
    if (kstring_begins(s, n, "mmio:"))
        return parse_memory(s + 5, n - 5, &serial->uart);
    if (kstring_begins(s, n, "pci:")) {
        serial->kind = KPORTS_PCI_FUNCTION;
        return parse_function(s + 4, n - 4, &serial->function);
    }
    serial->uart = arch_uart_com(0);
    if (!knumber_parse(s, n, &port) || port == 0 || port > PORT_MAX)
        return false;
    serial->uart.address = port;
    return true;
}

static bool parse(void *field, const char *value, size_t size, char *why, size_t why_size)
{
    struct kports_option serial = {0};
    const char *port;
    size_t port_size;
    uint64_t baud = 0, clock = 0;
    uint32_t nearest;
    uint16_t divisor;
    kopt_part(&value, &size, ',', &port, &port_size);
    if (!parse_port(port, port_size, &serial)) {
        snprintf(why, why_size,
                 "the port is auto, com1 to com4, an I/O address from 0x1 to 0xfff8, "
                 "mmio:ADDRESS[:STRIDE[:WIDTH]] with 1, 2 or 4 bytes from register to register and of an access, "
                 "pci[:BUS:DEVICE.FUNCTION] as lspci writes it, or none");
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
    serial.baud = baud ? (uint32_t)baud : serial.kind == KPORTS_AUTO ? 0 : KSERIAL_BAUD;
    if (serial.baud && arch_uart_divisor((uint32_t)clock, serial.baud, &divisor, &nearest)) {
        snprintf(why, why_size, "a clock of %lu Hz gives no baud rate within 2.5 %% of that: %u is the nearest",
                 (unsigned long)clock, nearest);
        return false;
    }
    *(struct kports_option *)field = serial;
    return true;
}

static void show(const void *field, char *text, size_t size)
{
    const struct kports_option *s = field;
    char port[40] = "auto";
    if (s->kind == KPORTS_PCI)
        snprintf(port, sizeof port, "pci");
    else if (s->kind == KPORTS_PCI_FUNCTION)
        snprintf(port, sizeof port, "pci:%02x:%02x.%x", s->function >> 8, s->function >> 3 & 31u, s->function & 7u);
    else if (s->kind == KPORTS_PORT && s->uart.space == ARCH_UART_MEMORY)
        snprintf(port, sizeof port, "mmio:0x%lx:%u:%u", (unsigned long)s->uart.address, s->uart.stride, s->uart.width);
    else if (s->kind == KPORTS_PORT)
        snprintf(port, sizeof port, "0x%lx", (unsigned long)s->uart.address);
    if (s->kind == KPORTS_NONE)
        snprintf(text, size, "none");
    else if (s->uart.clock && s->uart.clock != ARCH_UART_CLOCK)
        snprintf(text, size, "%s,%u,%u", port, s->baud, s->uart.clock);
    else if (s->baud)
        snprintf(text, size, "%s,%u", port, s->baud);
    else
        snprintf(text, size, "%s", port);
}

static const struct kopt_form form = {"PORT[,BAUD[,CLOCK]]", parse, show};

static const struct kopt_option serial = {
    .name = "serial",
    .standard = "auto",
    .text = "PORT of console and dump: auto (the port that ACPI's SPCR or else DBG2 names, else the first of COM1 to "
            "COM4, else of PCI), com1 to com4, an I/O port (0x3f8), mmio:ADDRESS[:STRIDE[:WIDTH]] (bytes between "
            "registers and per access), pci (the first), pci:BUS:DEVICE.FUNCTION as in lspci, or none; BAUD: the rate "
            "(115200, or with auto SPCR's); CLOCK: the port's clock in Hz (1843200)",
    .field = &kports_option,
    .kind = OTHER,
    .form = &form};
ROWS_ADD(kopt, serial);
