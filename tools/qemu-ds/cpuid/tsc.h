/* SPDX-License-Identifier: MIT */
/* How fast the guest's TSC runs, and the leaves of CPUID that say so: 15H and 16H, and the brand string, where programs
 * look for it if no leaf has it. Guests that know it need not measure it, which goes wrong on a busy host. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define QDS_BRAND_FIRST UINT32_C(0x80000002) /* the leaves that hold it, 16 bytes each */
#define QDS_BRAND_LAST  UINT32_C(0x80000004)

#define QDS_CPUID_TSC       0x15u /* TSC / crystal = EBX / EAX, ECX: the crystal in Hz */
#define QDS_CPUID_FREQUENCY 0x16u /* in MHz: EAX base, EBX maximum, ECX bus */

/* The rate at which QEMU's local APIC counts (hw/intc/apic.c: a nanosecond each). Linux takes that of CPUID.15H:ECX for
 * it, so no other value will do there. */
#define QDS_CRYSTAL_HZ UINT32_C(1000000000)

/* Linux multiplies the crystal in kHz by EBX in 32 bits. */
#define QDS_RATIO_MAX (UINT32_MAX / (QDS_CRYSTAL_HZ / 1000))

/* Notes the time, to measure from. Called once, early. */
void qds_tsc_begin(void);

/* The host's TSC, as fast as the guest's; 0: it is no x86-64 one. */
uint64_t qds_tsc_now(void);

/* How fast the guest's TSC runs, in Hz: as fast as the host's. Measured once, at the first call, which may wait until
 * the measurement is long enough; 0: the host's TSC is no x86-64 one. */
uint64_t qds_tsc_hz(void);

/* Whether the leaf says how fast it runs. */
bool qds_tsc_tells(uint32_t leaf);

/* Such a leaf of `preset` (up to 20 characters) with a TSC of `hz`, below 2^32 MHz: EAX, EBX, ECX, EDX. */
void qds_tsc_cpuid(const char *preset, uint64_t hz, uint32_t leaf, uint32_t out[4]);
