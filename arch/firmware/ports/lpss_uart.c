/* SPDX-License-Identifier: MIT */
#include "arch/firmware/ports/lpss_uart.h"

#include <stdbool.h>

#include "arch/firmware/uart.h"
#include "kernel/lib/errno.h"

#define CLOCK_ENABLE       0x1u
#define CLOCK_M_SHIFT      1u /* source clock * M / N */
#define CLOCK_N_SHIFT      16u
#define CLOCK_MN_MASK      0x7FFFu
#define RESETS_RELEASED    0x3u
#define CAPABILITIES_SHIFT 4u
#define CAPABILITIES_MASK  0xFu
#define CAPABILITIES_UART  1u /* 0: I2C, 2: SPI */

/* Nothing tells which source clock a chipset has. But firmware that has used the UART has divided it to a PC's clock,
 * and that only one of them gives. */
static bool is_pc_clock(uint32_t m, uint32_t n)
{
    static const uint32_t sources[] = {100000000, 120000000};
    uint16_t divisor;
    uint32_t rate;
    for (unsigned i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        const uint64_t clock = n ? (uint64_t)sources[i] * m / n : 0;
        if (clock <= UINT32_MAX && !arch_uart_divisor((uint32_t)clock, ARCH_UART_CLOCK / 16, &divisor, &rate) &&
            divisor == 1)
            return true;
    }
    return false;
}

int lpss_uart_check(const struct lpss_registers *lpss, const char **what)
{
    if ((lpss->capabilities >> CAPABILITIES_SHIFT & CAPABILITIES_MASK) != CAPABILITIES_UART)
        return -ENODEV;
    if ((lpss->resets & RESETS_RELEASED) != RESETS_RELEASED)
        *what = "the firmware has left it in reset";
    else if (!(lpss->clock & CLOCK_ENABLE))
        *what = "the firmware has left its clock off";
    else if (!is_pc_clock(lpss->clock >> CLOCK_M_SHIFT & CLOCK_MN_MASK, lpss->clock >> CLOCK_N_SHIFT & CLOCK_MN_MASK))
        *what = "its clock is not that of a PC's port";
    else
        return 0;
    return -ENXIO;
}
