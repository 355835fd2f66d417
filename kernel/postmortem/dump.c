/* SPDX-License-Identifier: MIT */
/* After a panic, the trace up to it is dumped. */
#include "kernel/dump/dump.h"

#include "arch/arch.h"
#include "ds/ds.h"
#include "kernel/cpu.h"
#include "kernel/lib/panic.h"
#include "kernel/phase.h"
#include "kernel/postmortem/postmortem.h"
#include "kernel/recording/sessions.h"

void kpanic_dump(const char *line)
{
    if (ksession_find(1)) {
        kpostmortem_settle();
        for (uint32_t i = 0; i < kcpu_count; i++)
            ds_drain_panic(kcpu_table[i]->ds);
        kpostmortem_freeze(arch_rdtsc());
    }
    kdump("panic", line);
    kphase_run(KPHASE_DUMPED, NULL);
}
