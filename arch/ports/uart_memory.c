/* SPDX-License-Identifier: MIT */
#include "arch/device.h"
#include "arch/internal.h"
#include "arch/serial.h"
#include "kernel/lib/errno.h"

static volatile uint8_t *registers; /* of the one in use, or tried */

int arch_uart_memory_map(const struct arch_uart *uart)
{
    registers = arch_map_device(uart->address, arch_uart_size(uart));
    return registers ? 0 : arch_memory_at(uart->address, arch_uart_size(uart)) ? -EFAULT : -ENOMEM;
}

uint8_t arch_uart_memory_get(const struct arch_uart *uart, unsigned reg)
{
    return (uint8_t)arch_mmio_read(registers + reg * uart->stride, uart->width);
}

void arch_uart_memory_put(const struct arch_uart *uart, unsigned reg, uint8_t value)
{
    arch_mmio_write(registers + reg * uart->stride, uart->width, value);
}
