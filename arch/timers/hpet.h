/* SPDX-License-Identifier: MIT */
/* The registers of the High Precision Event Timer, as byte offsets. "IA-PC HPET Specification", "Hardware Overview".
 * Pure: also compiled on the host. */
#pragma once

#include <stdint.h>

#define HPET_CAPABILITIES    0x000u
#define HPET_LAST_TIMER(low) ((low) >> 8 & 0x1F)
#define HPET_PERIOD          0x004u /* in fs */
#define HPET_CONFIGURATION   0x010u
#define HPET_ENABLE          0x0001u
#define HPET_LEGACY          0x0002u /* its timers take the place of PIT and RTC */
#define HPET_COUNTER         0x0F0u
#define HPET_TIMER(n)        (0x100u + 0x20u * (n))
#define HPET_TIMER_INT       0x0004u
#define HPET_TIMER_FSB       0x4000u /* its interrupt goes to a local APIC by itself, past the I/O APICs */
#define HPET_SIZE            0x400u
#define HPET_PERIOD_MIN      1000000u   /* fs; not of the specification: 1 GHz, where they have 10 to 25 MHz */
#define HPET_PERIOD_MAX      100000000u /* fs */

/* No timer of `registers` raises interrupts any more, whatever the firmware had them do; the counter goes on as it did.
 * -ENODEV where they say what no HPET says, with nothing written, else 0. */
int arch_hpet_silence(volatile uint32_t *registers);
