/* SPDX-License-Identifier: MIT */
/* The mode of the local APICs. SDM vol. 3, "Extended XAPIC (x2APIC)"; Intel VT-d specification, "DMA Remapping
 * Reporting Structure". */
#pragma once

#include <stdint.h>

#define CPUID_1_ECX_X2APIC            (1u << 21)
#define CPUID_7_EDX_ARCH_CAPABILITIES (1u << 29)

/* The two say whether x2APIC mode cannot be left but by a reset. */
#define IA32_ARCH_CAPABILITIES          0x10Au
#define ARCH_CAPABILITIES_XAPIC_DISABLE (UINT64_C(1) << 21) /* IA32_XAPIC_DISABLE_STATUS is there */
#define IA32_XAPIC_DISABLE_STATUS       0xBDu
#define LEGACY_XAPIC_DISABLED           (UINT64_C(1) << 0)

enum { DMAR_FLAGS = 37, DMAR_SIZE = 48 };
#define DMAR_FLAG_X2APIC_OPT_OUT 2u

/* AUTO: as the firmware left it; x2APIC mode also where the MADT has APIC IDs that no xAPIC can address, unless the
 * firmware asks for xAPIC mode. */
enum arch_x2apic { ARCH_X2APIC_AUTO, ARCH_X2APIC_ON, ARCH_X2APIC_OFF };

/* Before arch_apic_init, which returns -ENODEV if there is no such mode here. */
void arch_x2apic_want(enum arch_x2apic mode);
