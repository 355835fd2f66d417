/* SPDX-License-Identifier: MIT */
/* Bits and MSRs that only ring 3 needs, beside those of arch/registers.h. SDM vol. 3, "Control Registers" and "EFLAGS
 * Register"; SDM vol. 4, "Architectural MSRs". */
#pragma once

#include <stdint.h>

#define CR4_UMIP (UINT64_C(1) << 11)
#define CR4_SMEP (UINT64_C(1) << 20)
#define CR4_SMAP (UINT64_C(1) << 21)

#define IA32_SYSENTER_CS 0x174u
#define IA32_STAR        0xC0000081u
#define IA32_LSTAR       0xC0000082u
#define IA32_FMASK       0xC0000084u

#define RFLAGS_DF   (UINT64_C(1) << 10)
#define RFLAGS_IOPL (UINT64_C(3) << 12)
#define RFLAGS_NT   (UINT64_C(1) << 14)
#define RFLAGS_RF   (UINT64_C(1) << 16)
#define RFLAGS_AC   (UINT64_C(1) << 18)
