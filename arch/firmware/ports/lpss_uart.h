/* SPDX-License-Identifier: MIT */
/*
 * The UARTs of Intel's Low Power Subsystem (LPSS): PCI functions whose 16550 has a register each 4 bytes. Behind it are
 * registers that say what the function is, and how the firmware has left it. Pure: also compiled on the host. Intel 300
 * Series Chipset datasheet, volume 2, "UART Additional Registers"; Linux, drivers/mfd/intel-lpss.c.
 */
#pragma once

#include <stdint.h>

#define LPSS_CLOCK        0x200u
#define LPSS_RESETS       0x204u
#define LPSS_CAPABILITIES 0x2FCu
#define LPSS_SIZE         0x300u /* from the base address on */

struct lpss_registers {
    uint32_t clock, resets, capabilities;
};

/* 0: a UART that runs, with the clock of a PC's. -ENODEV: something else, or it sleeps. -ENXIO: a UART that the
 * firmware has not left so; *what says why. */
int lpss_uart_check(const struct lpss_registers *lpss, const char **what);
