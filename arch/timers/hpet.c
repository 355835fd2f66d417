/* SPDX-License-Identifier: MIT */
#include "arch/timers/hpet.h"

#include "kernel/lib/errno.h"

int arch_hpet_silence(volatile uint32_t *registers)
{
    const uint32_t period = registers[HPET_PERIOD / 4];
    if (period < HPET_PERIOD_MIN || period > HPET_PERIOD_MAX)
        return -ENODEV;
    const uint32_t last = HPET_LAST_TIMER(registers[HPET_CAPABILITIES / 4]);
    for (uint32_t n = 0; n <= last && HPET_TIMER(n) < HPET_SIZE; n++)
        registers[HPET_TIMER(n) / 4] &= ~(HPET_TIMER_INT | HPET_TIMER_FSB);
    registers[HPET_CONFIGURATION / 4] &= ~HPET_LEGACY;
    return 0;
}
