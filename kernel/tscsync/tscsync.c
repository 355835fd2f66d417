/* SPDX-License-Identifier: MIT */
/* What is known of the CPUs' TSCs, for the console and the dump. */
#include "arch/tscsync/tscsync.h"

#include "arch/arch.h"
#include "kernel/console/report.h"
#include "kernel/cpu.h"
#include "kernel/dump_section.h"
#include "kernel/lib/print.h"
#include "kernel/phase.h"
#include "trace/clock.h"
#include "trace/frames.h"

/* Whether the CPUs' TSCs are one clock: the trace merges CPUs by it. The worst one is named. */
static void say(const struct boot_info *info)
{
    (void)info;
    const uint64_t unit = arch_tsc_hz() / TRACE_CLOCK_HZ;
    uint64_t worst = 0, widest = 0;
    uint32_t who = 0, apart = 0, unknown = 0;
    for (uint32_t i = 1; i < kcpu_count; i++) {
        const struct arch_tsc_bounds *b = arch_tsc_bounds(i);
        const int64_t offset = arch_tsc_offset(b);
        const uint64_t size = offset < 0 ? -(uint64_t)offset : (uint64_t)offset, sure = arch_tsc_uncertainty(b);
        if (!b->rounds) {
            unknown++;
            continue;
        }
        widest = sure > widest ? sure : widest;
        if (size <= sure + unit && b->low <= b->high)
            continue;
        apart++;
        if (size + sure > worst) {
            worst = size + sure;
            who = i;
        }
    }
    if (unknown)
        kprintf("time: how far the TSCs of %u CPUs are from CPU 0's could not be measured\n", unknown);
    if (who)
        kreport(KREPORT_SKIP, "tsc",
                "CPU %u's is %ld cycles from CPU 0's, give or take %lu; %u of %u differ: the order of events of "
                "different CPUs is not exact",
                who, (long)arch_tsc_offset(arch_tsc_bounds(who)),
                (unsigned long)arch_tsc_uncertainty(arch_tsc_bounds(who)), apart, kcpu_count);
    else if (kcpu_count > 1 + unknown)
        kprintf("time: the TSCs of %u CPUs agree to within %lu cycles\n", kcpu_count - unknown, (unsigned long)widest);
}
KPHASE(KPHASE_PROCESSORS, say);

static void dump(struct trace_dump *d)
{
    for (uint32_t n = 1; n < kcpu_count; n++) {
        const struct arch_tsc_bounds *b = arch_tsc_bounds(n);
        if (b->rounds)
            trace_dump_print(d, CAIRN_STREAM_MACHINE, "cpu.%u.tsc_offset=%ld %lu %u", n, (long)arch_tsc_offset(b),
                             (unsigned long)arch_tsc_uncertainty(b), b->rounds);
    }
}
KDUMP_SECTION(KDUMP_MACHINE, KDUMP_HEAD, dump);
