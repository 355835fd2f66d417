/* SPDX-License-Identifier: MIT */
/* What something else uses stays as it is, or is taken with a warning. */
#include "arch/arch.h"
#include "ds/in_use/in_use.h"
#include "kernel/in_use/in_use.h"
#include "kernel/lib/print.h"
#include "kernel/recording/ds.h"

void kds_detected(struct ds_caps *caps)
{
    static bool said; /* CPUs are asked at the same time; firmware does the same to all */
    if (!kin_use_force)
        ds_leave_alone(caps);
    else if (caps->in_use[0] && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        kprintf("ds: warning: CPU %u: %s\n", arch_cpu_index(), caps->in_use);
}
