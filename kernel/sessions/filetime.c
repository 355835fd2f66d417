/* SPDX-License-Identifier: MIT */
/* The system time: from the firmware's clock when the loader started, as UTC where it names no zone. Without a clock as
 * if that had been 1601-01-01. */
#include "trace/sessions/filetime.h"

#include "arch/arch.h"
#include "boot/info.h"
#include "kernel/phase.h"
#include "kernel/recording/sessions.h"

static const struct boot_info *boot;

static void set_boot(const struct boot_info *info)
{
    boot = info;
}
KPHASE(KPHASE_PROCESSORS, set_boot);

int64_t ksession_filetime(uint64_t tsc)
{
    const struct boot_time *t = &boot->time;
    struct trace_clock since;
    if (trace_clock_init(&since, arch_tsc_hz(), boot->entry_tsc))
        return 0;
    int64_t start = t->year ? trace_filetime(t->year, t->month, t->day, t->hour, t->minute, t->second) : 0;
    if (t->year && t->timezone != BOOT_TIME_NO_ZONE)
        start += t->timezone * INT64_C(60) * (int64_t)TRACE_CLOCK_HZ;
    return start + trace_clock_units(&since, tsc);
}
