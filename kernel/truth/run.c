/* SPDX-License-Identifier: MIT */
/* What the truth has to do in a run: memory, hooks, the verdict, and its lines of the dump. */
#include "kernel/console/end.h"
#include "kernel/console/report.h"
#include "kernel/cpu.h"
#include "kernel/dump_section.h"
#include "kernel/phase.h"
#include "kernel/tracepoint/drains.h"
#include "kernel/truth/truth.h"
#include "trace/frames.h"

static void add_hooks(const struct boot_info *info)
{
    (void)info;
    if (ktruth_wanted) /* making it takes time */
        ktruth_hooks(&kdrain_hooks);
}
KPHASE(KPHASE_OPTIONS, add_hooks);

static void reserve(const struct boot_info *info)
{
    (void)info;
    if (ktruth_wanted && ktruth_reserve() != 0)
        kend_failed("setup", "no memory for the truth");
}
KPHASE(KPHASE_READY, reserve); /* at its prompt the monitor may start a session */

static void report(const struct boot_info *info)
{
    (void)info;
    struct ktruth_counts sum = {0};
    if (!ktruth_kept)
        return;
    for (uint32_t i = 0; i < kcpu_count; i++) {
        const struct ktruth_counts c = ktruth_counts(i);
        sum.switches += c.switches;
        sum.records += c.records;
        sum.lost += c.lost;
    }
    kreport(sum.lost ? KREPORT_FAIL : KREPORT_PASS, "truth", "%lu switches, %lu records, %lu without room",
            sum.switches, sum.records, sum.lost);
}
KPHASE(KPHASE_VERDICT, report);

static void write_counts(struct trace_dump *dump)
{
    for (uint32_t i = 0; i < kcpu_count && ktruth_kept; i++) {
        const struct ktruth_counts c = ktruth_counts(i);
        trace_dump_print(dump, CAIRN_STREAM_END, "end.cpu.%u.truth=%lu %lu %lu", i, c.switches, c.records, c.lost);
    }
    trace_dump_print(dump, CAIRN_STREAM_END, "end.truth=%u", ktruth_wanted);
}
KDUMP_SECTION(KDUMP_COUNTS, KDUMP_END | KDUMP_REST, write_counts);

KDUMP_SECTION(KDUMP_TRUTH, KDUMP_END | KDUMP_REST, ktruth_dump);
