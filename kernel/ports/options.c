/* SPDX-License-Identifier: MIT */
/* Values of serial= beside COM1 to COM4 and I/O addresses: ports in memory, and on PCI. Also compiled on the host. */
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "kernel/options/row.h"

#define ADDRESS_MAX (UINT64_C(1) << 52) /* no processor has more */

const char kopt_serial_text[] =
    "PORT of console and dump: auto (the port that ACPI's SPCR or else DBG2 names, else the first of COM1 to COM4, "
    "else of PCI), com1 to com4, an I/O port (0x3f8), mmio:ADDRESS[:STRIDE[:WIDTH]] (bytes between registers and per "
    "access), pci (the first) or pci:BUS:DEVICE.FUNCTION as in lspci, or none; BAUD: the rate (115200, or with auto "
    "SPCR's), set as near as the clock allows; CLOCK: the port's clock in Hz (1843200)";

const char kopt_serial_more[] = "mmio:ADDRESS[:STRIDE[:WIDTH]] with 1, 2 or 4 bytes from register to register and of "
                                "an access, pci[:BUS:DEVICE.FUNCTION] as lspci writes it, ";

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

bool kopt_serial_parse_more(const char *s, size_t n, struct kopt_serial *serial)
{
    if (kstring_begins(s, n, "mmio:"))
        return parse_memory(s + 5, n - 5, &serial->uart);
    if (kstring_begins(s, n, "pci:")) {
        serial->kind = KOPT_SERIAL_PCI_FUNCTION;
        return parse_function(s + 4, n - 4, &serial->function);
    }
    if (kopt_word_index("pci", s, n) < 0)
        return false;
    serial->kind = KOPT_SERIAL_PCI;
    return true;
}

bool kopt_serial_show_more(char *text, size_t size)
{
    const struct kopt_serial *s = &kopt.serial;
    if (s->kind == KOPT_SERIAL_PCI)
        snprintf(text, size, "pci");
    else if (s->kind == KOPT_SERIAL_PCI_FUNCTION)
        snprintf(text, size, "pci:%02x:%02x.%x", s->function >> 8, s->function >> 3 & 31u, s->function & 7u);
    else if (s->kind == KOPT_SERIAL_PORT && s->uart.space == ARCH_UART_MEMORY)
        snprintf(text, size, "mmio:0x%lx:%u:%u", (unsigned long)s->uart.address, s->uart.stride, s->uart.width);
    else
        return false;
    return true;
}
