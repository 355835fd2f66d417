/* SPDX-License-Identifier: MIT */
/* The brand string in CPUID: the preset, and the frequency of the TSC in the form of Intel's names. Programs such as
 * perf read the frequency there if no leaf of CPUID has it. */
#pragma once

#include <stdint.h>

#define QDS_BRAND_FIRST UINT32_C(0x80000002) /* the leaves that hold it, 16 bytes each */
#define QDS_BRAND_LAST  UINT32_C(0x80000004)

/* Notes the time, to measure from. Called once, early. */
void qds_brand_begin(void);

/* How fast the guest's TSC runs, in Hz: as fast as the host's. Measured once, at the first call; 0: the host's TSC is
 * no x86-64 one. */
uint64_t qds_brand_tsc_hz(void);

/* A leaf of the brand string of `preset` (up to 20 characters) with a TSC of `hz`: EAX, EBX, ECX, EDX. */
void qds_brand(const char *preset, uint64_t hz, uint32_t leaf, uint32_t out[4]);
