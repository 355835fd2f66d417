/* SPDX-License-Identifier: MIT */
/* Changes the periods in the middle of the run. */
#include "ds/later/later.h"
#include "kernel/console/report.h"
#include "kernel/cpu.h"
#include "kernel/later/later.h"
#include "kernel/phase.h"
#include "kernel/recording/ds.h"
#include "kernel/sched/cross_call.h"

static uint64_t period[DS_MAX_COUNTERS];
static bool changed;

/* Whether they are to change; kopt_check has found the option right. */
static bool wanted(void)
{
    char error[160];
    return kds->pebs && klater_periods(period, error, sizeof error) == 0 && period[0];
}

static void change_cpu(void *unused)
{
    (void)unused;
    char error[160]; /* kopt_check_plan has asked */
    struct kcpu *cpu = kcpu_this();
    if (cpu->ds && kds->config[cpu->arch.index] == &kds->ds)
        ds_reconfigure(cpu->ds, period, error, sizeof error);
}

static void change(const struct boot_info *info)
{
    (void)info;
    changed = true;
    if (wanted())
        kcross_call_all(change_cpu, NULL);
}
KPHASE(KPHASE_HALF, change);

static void report(const struct boot_info *info)
{
    (void)info;
    if (changed || !wanted())
        return;
    kreport(KREPORT_SKIP, "periods", "pebs.later=%s: no change: the run ended before half of its switches",
            klater_text);
}
KPHASE(KPHASE_VERDICT, report);
