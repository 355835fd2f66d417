/* SPDX-License-Identifier: MIT */
#include "kernel/icount/icount.h"

#include "arch/arch.h"
#include "arch/icount/align.h"
#include "kernel/lib/print.h"
#include "kernel/phase.h"
#include "kernel/sched/sched.h"

static void align(const struct boot_info *info)
{
    (void)info;
    if (!kicount_align)
        return;
    kprintf("time: waiting until the TSC is a multiple of 2^%u: at most %lu s\n", kicount_align,
            (unsigned long)((UINT64_C(1) << kicount_align) / arch_tsc_hz() + 1));
    arch_tsc_align(kicount_align);
}
KPHASE(KPHASE_ALONE, align);

void ksched_idle(void)
{
    if (kicount_align)
        arch_poll_for_interrupt(); /* arch_tsc_align says why */
    else
        arch_wait_for_interrupt();
}
