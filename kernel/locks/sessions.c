/* SPDX-License-Identifier: MIT */
/* Where a run, its sessions and its dump meet the trace of spin locks. */
#include "kernel/recording/sessions.h"
#include "kernel/dump_section.h"
#include "kernel/locks/lock_trace.h"
#include "kernel/locks/options.h"
#include "kernel/phase.h"
#include "trace/frames.h"
#include "trace/wire/spinlock.h"

static void begin(const struct boot_info *info)
{
    (void)info;
    klock_trace_init(&klock_sampling);
}
KPHASE(KPHASE_OPTIONS, begin);

static void before(uint32_t number, enum cairn_session_what what)
{
    if (what != CAIRN_SESSION_START)
        klock_trace_rundown(UINT32_C(1) << (number - 1), HOOK_SPINLOCK_DC_END);
}

static void after(uint32_t number, enum cairn_session_what what)
{
    if (what != CAIRN_SESSION_STOP)
        klock_trace_rundown(UINT32_C(1) << (number - 1), HOOK_SPINLOCK_DC_START);
    klock_trace_update();
}

static const struct ksession_row locks = {before, after};
ROWS_ADD(ksession, locks);

static void dump_locks(struct trace_dump *dump)
{
    for (uint32_t i = 0; i < kcpu_count && ksession_find(1); i++) {
        const struct klock_trace_counts c = klock_trace_counts(i);
        trace_dump_print(dump, CAIRN_STREAM_END, "end.cpu.%u.locks=%lu %lu %lu %lu %lu", i, c.contended, c.uncontended,
                         c.released, c.events, c.untracked);
    }
}
KDUMP_SECTION(KDUMP_COUNTS, KDUMP_END | KDUMP_REST, dump_locks);
