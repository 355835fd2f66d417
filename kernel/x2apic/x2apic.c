/* SPDX-License-Identifier: MIT */
/* The mode of the local APICs is that of the option. */
#include "kernel/x2apic/x2apic.h"

#include "arch/x2apic/x2apic.h"
#include "kernel/phase.h"

static void choose(const struct boot_info *info)
{
    (void)info;
    arch_x2apic_want((enum arch_x2apic)kx2apic_mode);
}
KPHASE(KPHASE_OPTIONS, choose);
