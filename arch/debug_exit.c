/* SPDX-License-Identifier: MIT */
/* QEMU's isa-debug-exit, which ends a run where there is no power-off; and a wait that also works before the TSC's
 * frequency is known (arch/power and kernel/power use it, too). */
#include "arch/internal.h"

#define DEBUG_EXIT_PORT 0xF4u    /* -device isa-debug-exit,iobase=0xf4,iosize=0x04 */
#define EXIT_WAIT_US    1000000u /* for QEMU: from version 9.1 on another of its threads ends it */
#define DELAY_PORT      0x80u    /* POST codes are written there; to read it does nothing */

/* Works before arch_time_init, too: for a panic, or if options are refused. It then reads a port that does nothing. A
 * read takes about a microsecond on a PC, and less in an emulator. */
void arch_wait_for_effect(uint64_t us)
{
    if (arch_tsc_hz())
        arch_delay_us(us);
    else
        for (uint64_t i = 0; i < us; i++)
            (void)arch_in8(DELAY_PORT);
}

void arch_debug_exit(uint8_t code)
{
    arch_out8(DEBUG_EXIT_PORT, code);
    arch_wait_for_effect(EXIT_WAIT_US);
}
