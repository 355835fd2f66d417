/* SPDX-License-Identifier: MIT */
/* Control registers and the MSRs that arch/ uses. They have the SDM's names; bits follow their register. SDM vol. 3,
 * "Control Registers"; SDM vol. 4, "Architectural MSRs". */
#pragma once

#include <stdint.h>

#include "arch/register_access.h"

#define CR0_MP (UINT64_C(1) << 1)
#define CR0_EM (UINT64_C(1) << 2)
#define CR0_TS (UINT64_C(1) << 3)
#define CR0_NE (UINT64_C(1) << 5)
#define CR0_WP (UINT64_C(1) << 16)
#define CR0_AM (UINT64_C(1) << 18)
#define CR0_NW (UINT64_C(1) << 29)
#define CR0_CD (UINT64_C(1) << 30)

#define CR4_PAE        (UINT64_C(1) << 5)
#define CR4_MCE        (UINT64_C(1) << 6)
#define CR4_OSFXSR     (UINT64_C(1) << 9)
#define CR4_OSXMMEXCPT (UINT64_C(1) << 10)
#define CR4_LA57       (UINT64_C(1) << 12)

#define IA32_APIC_BASE    0x1Bu
#define APIC_BASE_EXTD    (UINT64_C(1) << 10) /* x2APIC mode */
#define APIC_BASE_EN      (UINT64_C(1) << 11)
#define APIC_BASE_ADDRESS UINT64_C(0x000FFFFFFFFFF000)

#define IA32_MISC_ENABLE        0x1A0u
#define MISC_ENABLE_LIMIT_CPUID (UINT64_C(1) << 22)

#define IA32_PAT            0x277u
#define PAT_CAIRN           UINT64_C(0x0007040100070406) /* WB WT UC- UC, WC WT UC- UC; power-up: PA4 WB */
#define IA32_EFER           0xC0000080u
#define EFER_SCE            (UINT64_C(1) << 0)
#define EFER_NXE            (UINT64_C(1) << 11)
#define EFER_FFXSR          (UINT64_C(1) << 14)
#define IA32_GS_BASE        0xC0000101u
#define IA32_KERNEL_GS_BASE 0xC0000102u
