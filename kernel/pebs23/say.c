/* SPDX-License-Identifier: MIT */
/* Says that there are two mechanisms where there was one. */
#include "kernel/lib/print.h"
#include "kernel/phase.h"
#include "kernel/recording/ds.h"

static void say_which_is_which(const struct boot_info *info)
{
    (void)info;
    const uint32_t cpu = kds_first_instead();
    if (cpu == kcpu_count)
        return;
    if (kds->caps[cpu].bts)
        kprintf("ds: PEBS is architectural (IA32_PEBS_BASE), the Debug Store is for BTS alone\n");
    else
        kprintf("ds: PEBS is architectural (IA32_PEBS_BASE); no BTS: %s\n", kds->caps[cpu].bts_reason);
}
KPHASE(KPHASE_READY, say_which_is_which);
