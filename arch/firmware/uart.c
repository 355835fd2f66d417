/* SPDX-License-Identifier: MIT */
#include "arch/firmware/uart.h"

#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define SAMPLES_A_BIT 16u
#define TOLERANCE     40u /* 1/40: 2.5 % */

struct arch_uart arch_uart_com(unsigned n)
{
    static const uint16_t ports[ARCH_UART_COMS] = {0x3F8, 0x2F8, 0x3E8, 0x2E8};
    return (struct arch_uart){ports[n], ARCH_UART_CLOCK, ARCH_UART_IO, 1, 1};
}

uint64_t arch_uart_size(const struct arch_uart *uart)
{
    return (ARCH_UART_REGISTERS - 1) * (uint64_t)uart->stride + uart->width;
}

int arch_uart_divisor(uint32_t clock, uint32_t baud, uint16_t *divisor, uint32_t *rate)
{
    const uint64_t bit = (uint64_t)baud * SAMPLES_A_BIT;
    uint64_t d = bit ? (clock + bit / 2) / bit : UINT16_MAX;
    d = d < 1 ? 1 : d > UINT16_MAX ? UINT16_MAX : d;
    *divisor = (uint16_t)d;
    *rate = (uint32_t)((clock + d * SAMPLES_A_BIT / 2) / (d * SAMPLES_A_BIT));
    /* by the clock, for *rate is rounded */
    const uint64_t is = clock, wanted = bit * d;
    const uint64_t off = is > wanted ? is - wanted : wanted - is;
    return off * TOLERANCE <= wanted && *rate ? 0 : -ERANGE;
}

void arch_uart_show(const struct arch_uart *uart, char *text, size_t size)
{
    if (uart->space == ARCH_UART_IO)
        snprintf(text, size, "I/O port 0x%lx", (unsigned long)uart->address);
    else if (uart->space == ARCH_UART_MEMORY && uart->stride > 1)
        snprintf(text, size, "memory at 0x%lx, a register each %u bytes", (unsigned long)uart->address, uart->stride);
    else if (uart->space == ARCH_UART_MEMORY)
        snprintf(text, size, "memory at 0x%lx", (unsigned long)uart->address);
    else
        snprintf(text, size, "none");
}
